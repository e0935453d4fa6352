import type { Reader } from './readers.js';

/** One flag of a command, as data: parsing, help, the reference page and the suite read the same table. */
export type Flag<T> = {
  name: `--${string}`;
  /** A letter that stands for it. */
  short?: `-${string}`;
  /** What stands for the value in the help; null: the flag takes none. */
  value: string | null;
  repeats: boolean;
  help: string;
  read: Reader<T>;
};

export type Flags = Readonly<Record<string, Flag<unknown>>>;
/** A member is absent when its flag was not given. A repeated flag gives a list. */
export type Values<F extends Flags> = { [K in keyof F]?: F[K] extends Flag<infer T> ? T : never };

export function on(name: `--${string}`, help: string): Flag<true> {
  return { name, value: null, repeats: false, help, read: () => ({ ok: true, value: true }) };
}

/** The same by a letter too. */
export function withLetter<T>(short: `-${string}`, flag: Flag<T>): Flag<T> {
  return { ...flag, short };
}

export function valued<T>(name: `--${string}`, value: string, read: Reader<T>, help: string): Flag<T> {
  return { name, value, repeats: false, help, read };
}

/** The reader reads one; the values come as a list. The type says the list, since that is what a command sees. */
export function repeated<T>(name: `--${string}`, value: string, read: Reader<T>, help: string): Flag<T[]> {
  return { name, value, repeats: true, help: `${help} (may be repeated)`, read: (text) => asList(read(text)) };
}

function asList<T>(reading: ReturnType<Reader<T>>): ReturnType<Reader<T[]>> {
  return reading.ok ? { ok: true, value: [reading.value] } : reading;
}

export const OUTPUT_FLAGS = {
  json: on('--json', 'print JSON on stdout'),
  human: on('--human', 'print text for people on stdout'),
} as const satisfies Flags;
