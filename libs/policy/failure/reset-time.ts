import { spokenTime, type SpokenTime } from './spoken-time.js';
import { zoneOf, type Zone } from './zones.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Vendors round a reset up to the full hour; past the window's length by more than this it is misread. */
export const RESET_SLACK_MS = HOUR;
/** The longest window either vendor sells: a month of credits. */
export const LONGEST_WINDOW_MS = 31 * DAY;
/** A clock time that has passed by less than this is over, and not meant for tomorrow (windows of unknown length). */
const JUST_PASSED_MS = 30 * MINUTE;
/** Longer than any window: a stated time further back than this is not taken for a reset. */
const STALE_MS = 35 * DAY;

export type ResetContext = {
  now: number;
  hostTimeZone: string;
  /**
   * codex leaves the date out only on the very day, claude within the next 24 hours. Nearer than tomorrow's it is over.
   */
  bareClockIsToday?: boolean;
};

/** Colour codes of a terminal: the CLIs paint their sentences, in JSON as well. */
const COLOUR = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/**
 * No colours, straight quotes, one kind of dot and dash, plain blanks: the generations differ in nothing else so often.
 */
export function plainText(text: string): string {
  return text
    .replace(COLOUR, '')
    .replace(/[\u2018\u2019\u02bc\u00b4`]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2219\u2022\u22c5\u2027]/g, '·')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ');
}

/** Length of the longest window that a sentence (or the vendor's machine word) speaks of, ms. */
export function windowLength(text: string): number {
  const found = [
    [/\b(?:5|five)[- _]?h(?:(?:ou)?rs?)?\b|\bsession limit\b/i, 5 * HOUR],
    [/\bdaily\b|\bone[- _]day\b/i, DAY],
    [/\bweek(?:ly)?\b|\b(?:7|seven)[- _]?day|\b(?:opus|sonnet|haiku|fable)\b[^.·]{0,20}\blimit\b/i, 7 * DAY],
    [/\bmonth(?:ly)?\b|\bspend(?:ing)?\b|\bcredits?\b|\bextra usage\b|\boverage\b/i, LONGEST_WINDOW_MS],
  ] as const;
  const lengths = found.filter(([pattern]) => pattern.test(text)).map(([, length]) => length);
  return lengths.length > 0 ? Math.max(...lengths) : LONGEST_WINDOW_MS;
}

/** An instant that a reset may have: not beyond the window, not from another age. */
export function believable(instant: number, now: number, length: number): boolean {
  return Number.isFinite(instant) && instant <= now + length + RESET_SLACK_MS && instant >= now - STALE_MS;
}

/**
 * The reset that a vendor's sentence states, in ms since the epoch, or null when it states none that can be read. A
 * time that has just passed stays in the past: the limit is over, and the work must not wait until tomorrow.
 */
export function statedReset(text: string, context: ResetContext): number | null {
  const plain = plainText(text.slice(0, 4000));
  const length = windowLength(plain);
  const machine = machineReset(plain, context.now);
  if (machine !== null) return believable(machine, context.now, length) ? machine : null;
  const anchor =
    /\b(?:resets?|resetting|try again|retry|available(?: again)?|wait|until|back)\b(?:[\s:]+(?:on|at|in|after|until|by|is|time|for))*[\s:]+(?=\S)/gi;
  for (const match of plain.matchAll(anchor)) {
    const relative = /\b(?:in|after|wait|for)[\s:]+$/i.test(match[0]);
    const spoken = spokenTime(plain.slice(match.index + match[0].length), relative);
    const instant = spoken ? instantOf(spoken, length, context) : null;
    if (instant !== null) return instant;
  }
  return null;
}

/** `…|1795151700`, `"resets_at":1777936568`, `resets_in_seconds: 13872`, `retry-after: 60`. */
function machineReset(text: string, now: number): number | null {
  const epoch =
    /\|\s*(\d{10}(?:\d{3})?)\b/.exec(text)?.[1] ?? /\bresets?_?at"?\s*[:=]\s*"?(\d{10}(?:\d{3})?)\b/i.exec(text)?.[1];
  if (epoch !== undefined) return Number(epoch) * (epoch.length === 10 ? 1000 : 1);
  const seconds =
    /\bresets?_(?:in|after)_seconds"?\s*[:=]\s*(\d{1,9})\b/i.exec(text)?.[1] ??
    /\bretry[-_]after"?\s*[:=]\s*(\d{1,6})\b/i.exec(text)?.[1];
  return seconds === undefined ? null : now + Number(seconds) * 1000;
}

function instantOf(spoken: SpokenTime, length: number, context: ResetContext): number | null {
  const { now } = context;
  if (spoken.kind === 'after') return believable(now + spoken.ms, now, length) ? now + spoken.ms : null;
  const zone = zoneOf(spoken.zone ?? context.hostTimeZone);
  if (!zone) return null;
  return spoken.kind === 'date' ? dateInstant(spoken, zone, length, now) : clockInstant(spoken, zone, length, context);
}

function dateInstant(spoken: SpokenTime & { kind: 'date' }, zone: Zone, length: number, now: number): number | null {
  const thisYear = zone.wallAt(now).year;
  const years = spoken.year === null ? [thisYear - 1, thisYear, thisYear + 1] : [spoken.year];
  const instants = years
    .filter((year) => new Date(Date.UTC(year, spoken.month - 1, spoken.day)).getUTCDate() === spoken.day)
    .map((year) =>
      lastIn(zone.instantsOf({ ...spoken.clock, year, month: spoken.month, day: spoken.day }), now, length),
    );
  const nearest = instants.sort((a, b) => Math.abs(a - now) - Math.abs(b - now))[0];
  return nearest !== undefined && believable(nearest, now, length) ? nearest : null;
}

function clockInstant(
  spoken: SpokenTime & { kind: 'clock' },
  zone: Zone,
  length: number,
  { now, bareClockIsToday }: ResetContext,
): number | null {
  const today = zone.wallAt(now);
  const on = (offset: number): number => {
    const date = new Date(Date.UTC(today.year, today.month - 1, today.day + offset));
    const wall = {
      ...spoken.clock,
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
    };
    return lastIn(zone.instantsOf(wall), now, length);
  };
  const within = (instant: number) => (believable(instant, now, length) ? instant : null);
  if (spoken.day === 'today') return within(on(0));
  if (spoken.day === 'tomorrow') return within(on(1));
  if (typeof spoken.day === 'number') {
    const weekday = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
    const ahead = (spoken.day - weekday + 7) % 7;
    const first = on(ahead);
    return within(first < now - JUST_PASSED_MS ? on(ahead + 7) : first);
  }
  const near = [on(-1), on(0), on(1)];
  const passed = Math.max(...near.filter((instant) => instant <= now), Number.NEGATIVE_INFINITY);
  const coming = Math.min(...near.filter((instant) => instant > now), Number.POSITIVE_INFINITY);
  if (bareClockIsToday === true && passed === on(0) && now - passed < coming - now) return within(passed);
  if (coming <= now + length + RESET_SLACK_MS && now - passed > JUST_PASSED_MS) return coming;
  // Only a short window gets here with a time long gone: then the text is of another window, and nothing is known.
  return now - passed <= HOUR ? passed : null;
}

/** Of the two instants of an hour that occurs twice the later is the safe one, if the window can reach it. */
function lastIn(instants: number[], now: number, length: number): number {
  const reachable = instants.filter((instant) => instant <= now + length + RESET_SLACK_MS);
  return Math.max(...(reachable.length > 0 ? reachable : instants));
}
