import { BATCH_NAME, DISPATCH_ID, nearest, parseMoment } from '#contract';
import { isModelId, isVariableName, parseDuration } from '#config/values';

/** A flag's text as a value, or what would have been right. */
export type Reading<T> = { ok: true; value: T } | { ok: false; allowed: string; nearest: string | null };
export type Reader<T> = (text: string) => Reading<T>;

const good = <T>(value: T): Reading<T> => ({ ok: true, value });
const bad = (allowed: string, near: string | null = null): Reading<never> => ({ ok: false, allowed, nearest: near });

export function word<W extends string>(words: readonly W[]): Reader<W> {
  return (text) => {
    const found = words.find((candidate) => candidate === text);
    return found === undefined ? bad(words.join(', '), nearest(text, words)) : good(found);
  };
}

/** Comma-separated. */
export function words<W extends string>(allowed: readonly W[]): Reader<W[]> {
  return (text) => {
    const read = text.split(',').map((one) => word(allowed)(one.trim()));
    const wrong = read.find((one) => !one.ok);
    return wrong ?? good([...new Set(read.flatMap((one) => (one.ok ? [one.value] : [])))]);
  };
}

/** Digits only: `3.5`, `1e3`, `0x10` and ` 3` are slips, and rounding a slip would run something else. */
export function whole(min: number, max: number): Reader<number> {
  return (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return good(value);
    const near =
      Number.isNaN(Number(text)) || text.trim() === ''
        ? null
        : String(Math.min(max, Math.max(min, Math.round(Number(text)))));
    return bad(`a whole number ${min}..${max}`, near);
  };
}

/** `90` (seconds), `90s`, `15m`, `8h`, `2d`, within bounds. Milliseconds come out. */
export function duration(minMs: number, maxMs: number): Reader<number> {
  return (text) => {
    const ms = parseDuration(text, 's');
    return ms !== null && ms >= minMs && ms <= maxMs
      ? good(ms)
      : bad(`a duration from ${short(minMs)} to ${short(maxMs)}: 90, 90s, 15m, 8h, 2d`);
  };
}

/** As duration; the word `forever` gives null. */
export function durationOrForever(minMs: number, maxMs: number): Reader<number | null> {
  return (text) => {
    if (text === 'forever') return good(null);
    const read = duration(minMs, maxMs)(text);
    return read.ok ? read : bad(`${read.allowed}, or forever`, nearest(text, ['forever']));
  };
}

/** As a selection names it. */
export const labelText: Reader<string> = (text) => {
  const read = label(text);
  return read.ok ? good(`${read.value.name}=${read.value.value ?? ''}`) : read;
};

/** A duration back from now, or a date and time that has passed; the value is ISO. */
export const past: Reader<string> = (text) => {
  const ago = parseDuration(text, 's');
  if (ago !== null) return good(new Date(Date.now() - ago).toISOString());
  const read = moment(text);
  return read.ok && Date.parse(read.value) <= Date.now()
    ? read
    : bad('how long ago (90, 15m, 8h, 2d), or a date and time that has passed (2026-12-01T03:00)');
};

/** What a person gives as the reason of something. */
export const reason: Reader<string> = (text) =>
  text.trim() !== '' && text.length <= 200 && !/\p{C}/u.test(text)
    ? good(text.trim())
    : bad('one line of at most 200 characters');

export type AtOnce = {
  name: string;
  /** Null: what the configuration says. */
  n: number | null;
};

/** How many at once; `default` stands for the configured number. */
export const atOnce: Reader<number | null> = (text) => {
  if (text === 'default') return good(null);
  const read = whole(0, 10_000)(text);
  return read.ok ? read : bad(`${read.allowed}, or default`, read.nearest ?? nearest(text, ['default']));
};

export const namedAtOnce: Reader<AtOnce> = (text) => {
  const at = text.indexOf('=');
  const read = atOnce(text.slice(at + 1));
  return at > 0 && read.ok
    ? good({ name: text.slice(0, at), n: read.value })
    : bad('NAME=N: a whole number 0..10000, or default');
};

export const onceKey: Reader<string> = (text) =>
  /^(?!\s)[^\p{C}]{1,200}(?<!\s)$/u.test(text) ? good(text) : bad('one word of at most 200 characters');

const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const LOCAL = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?$/;

/**
 * A duration from now on, a time of day (the next such), or a date with or without one; without a zone it is this
 * box's. A duration stays as it was said, everything else comes out as ISO in UTC.
 */
export const moment: Reader<string> = (text) => {
  const said = text.trim();
  const [, hours, minutes] = CLOCK.exec(said) ?? [];
  if (hours !== undefined && minutes !== undefined) {
    const at = new Date();
    at.setHours(Number(hours), Number(minutes), 0, 0);
    if (at.getTime() <= Date.now()) at.setDate(at.getDate() + 1);
    return good(at.toISOString());
  }
  // A date alone would be midnight in UTC to Date.parse, and is midnight here to a person.
  const local = LOCAL.test(said) ? Date.parse(`${said.replace(' ', 'T')}${said.length === 10 ? 'T00:00' : ''}`) : NaN;
  if (!Number.isNaN(local)) return good(new Date(local).toISOString());
  return parseMoment(said, Date.now()) === null
    ? bad('a duration (90, 15m, 8h, 2d), a time of day (03:00), or a date and time (2026-12-01T03:00)')
    : good(said);
};

/** Any text of one line; `what` says what it is. */
export function line(what: string): Reader<string> {
  return (text) => (text.trim() === '' || /\p{Cc}/u.test(text) || text.length > 4096 ? bad(what) : good(text));
}

export function anyText(): Reader<string> {
  return good;
}

export const dispatch: Reader<string> = (text) =>
  DISPATCH_ID.test(text)
    ? good(text)
    : bad('the id of a dispatch: d- and 26 characters, as run, submit and ls print it');

export const batchName: Reader<string> = (text) =>
  BATCH_NAME.test(text) ? good(text) : bad('a name of at most 64 letters, digits, . _ and -');

export const model: Reader<string> = (text) =>
  isModelId(text) ? good(text) : bad('a model id, without blanks and not starting with -');

export type NamedValue = { name: string; value: string | null };

/** `NAME` (the value the caller has) or `NAME=VALUE`. */
export const variable: Reader<NamedValue> = (text) => {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  return isVariableName(name)
    ? good({ name, value: at === -1 ? null : text.slice(at + 1) })
    : bad('NAME or NAME=VALUE');
};

export const label: Reader<NamedValue> = (text) => {
  const [name = '', ...value] = text.split('=');
  return value.length > 0 && /^[A-Za-z][\w.-]{0,62}$/.test(name) && !/\p{Cc}/u.test(text) && text.length <= 256
    ? good({ name, value: value.join('=') })
    : bad('NAME=TEXT, the name of letters, digits, . _ and -');
};

function short(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const)
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  return ms === 0 ? '0' : `${ms}ms`;
}
