import { errorBody, nearestText, type ErrorBody } from '#contract';
import type { Flags, Values } from './flag.js';
import { scan } from './scan.js';

export type Usage<F extends Flags> = {
  name: string;
  /** As the help shows it: `ID…`, `[FILE|-]`; empty when the command takes none. */
  words: { shown: string; min: number; max: number };
  flags: F;
};

export type Parsed<F extends Flags> =
  { kind: 'values'; values: Values<F>; words: string[] } | { kind: 'help' } | { kind: 'refused'; error: ErrorBody };

/** One thing on the command line that was not understood. */
export type Wrong = { flag: string; seen: string; allowed: string; nearest: string | null };

/**
 * Parses the words after the command and reports every wrong value in one go. A flag given twice is refused unless it
 * may be repeated: one of the two values would be silently ignored.
 */
export async function parse<F extends Flags>(usage: Usage<F>, argv: readonly string[]): Promise<Parsed<F>> {
  const scanned = scan(usage.flags, argv) ?? (await import('./by-commander.js')).byCommander(usage, argv);
  if (scanned.kind !== 'scanned') return scanned;
  const { given, words } = scanned;
  const values: Record<string, unknown> = {};
  const wrong: Wrong[] = [];
  for (const [key, flag] of Object.entries(usage.flags)) {
    const texts = given.get(key) ?? [];
    if (texts.length > 1 && !flag.repeats)
      wrong.push({ flag: flag.name, seen: `it ${texts.length} times`, allowed: 'once', nearest: null });
    for (const text of texts) {
      const reading =
        flag.value !== null && looksLikeFlag(usage, text)
          ? { ok: false as const, allowed: `a value: ${flag.value}`, nearest: null }
          : flag.read(text);
      if (!reading.ok)
        wrong.push({ flag: flag.name, seen: quoted(text), allowed: reading.allowed, nearest: reading.nearest });
      else
        values[key] = flag.repeats
          ? [...((values[key] as unknown[] | undefined) ?? []), ...(reading.value as unknown[])]
          : reading.value;
    }
  }
  const { min, max, shown } = usage.words;
  if (words.length < min)
    wrong.push({ flag: `cmo ${usage.name}`, seen: 'nothing after it', allowed: shown, nearest: null });
  if (words.length > max)
    wrong.push({
      flag: `cmo ${usage.name}`,
      seen: quoted(words[max] ?? ''),
      allowed: max === 0 ? 'flags only' : shown,
      nearest: null,
    });
  if (wrong.length > 0) {
    const error = wrongValues(usage.name, wrong);
    // The commonest slip of a first minute: `cmo run "the task"`.
    const fix =
      words.length > max && 'prompt' in usage.flags
        ? `the task comes on stdin or by a flag: \`cmo ${usage.name} --prompt 'the task'\`, \`cmo ${usage.name} --prompt-file task.md\`; ${error.fix}`
        : error.fix;
    return { kind: 'refused', error: { ...error, fix } };
  }
  return { kind: 'values', values: values as Values<F>, words };
}

/**
 * `--model --json`: commander hands over the next word whatever it is. A value that begins so is written
 * `--model=--json`, or better not at all.
 */
function looksLikeFlag<F extends Flags>({ flags }: Usage<F>, text: string): boolean {
  return Object.values(flags).some(({ name }) => text === name || text.startsWith(`${name}=`));
}

export function wrongLines(wrong: readonly Wrong[]): string[] {
  return wrong.map((one) => `${one.flag}: saw ${one.seen}; allowed: ${one.allowed}${nearestText(one.nearest)}`);
}

export function wrongValues(command: string, wrong: readonly Wrong[]): ErrorBody {
  const lines = wrongLines(wrong);
  const [first] = lines;
  const fix = `see \`cmo help ${command}\``;
  return lines.length === 1 && first !== undefined
    ? errorBody('CMO_E_UNKNOWN_VALUE', first, { fix })
    : errorBody('CMO_E_UNKNOWN_VALUE', `${lines.length} values were not understood`, { details: lines, fix });
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
