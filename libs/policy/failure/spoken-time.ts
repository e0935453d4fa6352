/**
 * Shapes of a point in time in the vendors' sentences, read off the beginning of a text: nothing here knows what is
 * meant by it (which day, which zone, how far ahead is believable): `reset-time.ts` decides that.
 */
export type Clock = { hour: number; minute: number; second: number };

export type SpokenTime =
  | { kind: 'after'; ms: number }
  | { kind: 'clock'; clock: Clock; zone: string | null; day: 'near' | 'today' | 'tomorrow' | number }
  | { kind: 'date'; year: number | null; month: number; day: number; clock: Clock; zone: string | null };

/** Prefixes of month names without accents, per language that was seen or is likely (en, pt, es, fr, de, it). */
const MONTHS: readonly string[][] = [
  ['jan', 'ene', 'gen'],
  ['feb', 'fev'],
  ['mar', 'maer'],
  ['apr', 'abr', 'avr'],
  ['may', 'mai', 'mag'],
  ['jun', 'juin', 'giu'],
  ['jul', 'juil', 'lug'],
  ['aug', 'ago', 'aou'],
  ['sep', 'set'],
  ['oct', 'out', 'okt', 'ott'],
  ['nov'],
  ['dec', 'dez', 'dic'],
];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const UNIT_MS: Record<string, number> = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

const CLOCK = String.raw`(?:(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s*([ap])\.?\s?m\b\.?|(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])|(noon|midnight)\b)`;
const JOIN = String.raw`(?:\s*,)?\s*(?:(?:at|um|às|as|à|a las|alle|kl\.?)\s+)?`;
const MONTH_WORD = String.raw`([A-Za-zÀ-ÿ]{3,10})\.?`;

const MONTH_FIRST = new RegExp(
  String.raw`^(?:[A-Za-z]{3,9}\.?,?\s+)?${MONTH_WORD}\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4})(?!\d|:))?(?:${JOIN}${CLOCK})?`,
  'i',
);
const DAY_FIRST = new RegExp(
  String.raw`^(?:[A-Za-z]{3,9}\.?,?\s+)?(\d{1,2})(?:st|nd|rd|th|\.|º)?\s+(?:(?:de|of)\s+)?${MONTH_WORD}(?:,?\s+(?:de\s+)?(\d{4})(?!\d|:))?(?:${JOIN}${CLOCK})?`,
  'i',
);
/** Year first: ISO, and the numeric dates of the locales that write so (`2026/11/22 12:00`, `2026年11月22日 12:00`). */
const ISO =
  /^(\d{4})\s?[-/年]\s?(\d{1,2})\s?[-/月]\s?(\d{1,2})日?(?:(?:T|,?\s?)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?!\s*[ap]\.?m)\s*(Z\b|[+-]\d{2}:?\d{2})?)?/i;
const CLOCK_ONLY = new RegExp(
  `^(?:(today|tomorrow|[A-Za-z]{3,9}day|sun|mon|tue|wed|thu|fri|sat)\\.?,?\\s+(?:at\\s+)?)?${CLOCK}(?:\\s+(today|tomorrow))?`,
  'i',
);
const AFTER =
  /^(?:about |around |~)?((?:\d{1,6}(?:\.\d{1,3})?\s*(?:weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|w|d|h|m|s)(?![a-z])[\s,]*(?:and\s+)?){1,5})/i;

/** `2:30:00` and `2:30` after "in": hours first, as a clock has them. */
const COUNTDOWN = /^(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?!\s*[ap]\.?m|[\d:])/i;

/**
 * @param text begins where the time should stand. @param relative whether a bare duration is meant (after "in",
 * "after").
 */
export function spokenTime(text: string, relative: boolean): SpokenTime | null {
  return (relative ? after(text) : null) ?? iso(text) ?? dated(text) ?? clockOnly(text);
}

function after(text: string): SpokenTime | null {
  if (/^(?:less than|under) (?:a|one|1) minute\b/i.test(text)) return { kind: 'after', ms: 60_000 };
  const countdown = COUNTDOWN.exec(text);
  if (countdown)
    return {
      kind: 'after',
      ms: (Number(countdown[1]) * 3600 + Number(countdown[2]) * 60 + Number(countdown[3] ?? 0)) * 1000,
    };
  const run = AFTER.exec(text.replace(/^(?:an?|one)\s+(?=(?:week|day|hour|minute|second)\b)/i, '1 '))?.[1];
  if (run === undefined) return null;
  let ms = 0;
  for (const [, amount, unit] of run.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const word = (unit ?? '').toLowerCase();
    ms += Number(amount) * (UNIT_MS[word === 'ms' ? 'ms' : word.charAt(0)] ?? 0);
  }
  return { kind: 'after', ms: Math.round(ms) };
}

function iso(text: string): SpokenTime | null {
  const match = ISO.exec(text);
  if (!match) return null;
  const clock = validClock(Number(match[4] ?? 0), Number(match[5] ?? 0), Number(match[6] ?? 0));
  if (!clock) return null;
  const zone = match[7] === 'Z' ? 'UTC' : (match[7] ?? zoneAfter(text.slice(match[0].length)));
  return dateOf(Number(match[1]), Number(match[2]), Number(match[3]), clock, zone);
}

function dated(text: string): SpokenTime | null {
  const forms = [
    { pattern: MONTH_FIRST, monthGroup: 1, dayGroup: 2 },
    { pattern: DAY_FIRST, monthGroup: 2, dayGroup: 1 },
  ];
  for (const { pattern, monthGroup, dayGroup } of forms) {
    const match = pattern.exec(text);
    const month = match ? monthOf(match[monthGroup] ?? '') : 0;
    if (!match || month === 0) continue;
    const year = match[3] === undefined ? null : Number(match[3]);
    const clock = hasClock(match.slice(4)) ? clockOf(match.slice(4)) : { hour: 0, minute: 0, second: 0 };
    if (!clock) return null;
    return dateOf(year, month, Number(match[dayGroup]), clock, zoneAfter(text.slice(match[0].length)));
  }
  return null;
}

function clockOnly(text: string): SpokenTime | null {
  const match = CLOCK_ONLY.exec(text);
  const clock = match ? clockOf(match.slice(2)) : null;
  if (!match || !clock) return null;
  const rest = text.slice(match[0].length);
  // "4:00 PM on Nov 24": the date may follow.
  const later = /^(?:\s+on|,)\s+/i.exec(rest);
  const date = later ? dated(rest.slice(later[0].length)) : null;
  if (date?.kind === 'date') return { ...date, clock };
  return { kind: 'clock', clock, zone: zoneAfter(rest), day: dayOf(match[1] ?? match[10] ?? '') };
}

function dayOf(said: string): 'near' | 'today' | 'tomorrow' | number {
  const word = said.toLowerCase();
  if (word === 'today' || word === 'tomorrow') return word;
  const weekday = WEEKDAYS.indexOf(word.slice(0, 3));
  return weekday === -1 ? 'near' : weekday;
}

/** `(America/Recife)`, `(UTC)`, ` UTC`, ` +0800`; a bracket that holds no zone at all counts as none. */
function zoneAfter(rest: string): string | null {
  const bracket = /^\s*\(\s*([^()]{1,60}?)\s*\)/.exec(rest)?.[1];
  if (bracket !== undefined) return /^(?:in|every|about|local)\b/i.test(bracket) ? null : bracket;
  const bare =
    /^\s*(UTC|GMT|Z)\b(?![+-]\d)/i.exec(rest)?.[1] ??
    /^\s*((?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?)(?!\d)/i.exec(rest)?.[1];
  return bare ?? null;
}

function monthOf(word: string): number {
  const plain = word
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  return MONTHS.findIndex((names) => names.some((name) => plain.startsWith(name))) + 1;
}

const hasClock = (groups: (string | undefined)[]) => groups.some((group) => group !== undefined);

/** Groups of CLOCK, in order: hour minute second a|p, hour minute second of the 24-hour form, word. */
function clockOf(groups: (string | undefined)[]): Clock | null {
  const [hour, minute, second, half, hour24, minute24, second24, word] = groups;
  if (word !== undefined) return { hour: word.toLowerCase() === 'noon' ? 12 : 0, minute: 0, second: 0 };
  if (hour24 !== undefined) return validClock(Number(hour24), Number(minute24 ?? 0), Number(second24 ?? 0));
  if (hour === undefined || half === undefined) return null;
  const twelve = Number(hour);
  if (twelve < 1 || twelve > 12) return null;
  return validClock((twelve % 12) + (half.toLowerCase() === 'p' ? 12 : 0), Number(minute ?? 0), Number(second ?? 0));
}

function validClock(hour: number, minute: number, second: number): Clock | null {
  return hour <= 23 && minute <= 59 && second <= 59 ? { hour, minute, second } : null;
}

function dateOf(year: number | null, month: number, day: number, clock: Clock, zone: string | null): SpokenTime | null {
  const longest = new Date(Date.UTC(year ?? 2028, month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > longest || (year !== null && (year < 2000 || year > 2200)))
    return null;
  return { kind: 'date', year, month, day, clock, zone };
}
