import { finite } from './json.js';

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;
/** Below it an epoch number is seconds, from it on milliseconds (1e12 ms is 2001, 1e12 s is far beyond any reset). */
const MS_FROM = 1e12;
/** The last instant that an ISO text with a four-digit year can hold. */
const LAST = Date.UTC(9999, 11, 31);

/**
 * An instant as a vendor wrote it: ISO 8601 (its offset counts; without one it is UTC, whatever zone this box is in),
 * epoch seconds or epoch milliseconds, also as a numeric string. Milliseconds, or null when it is none of these.
 * Date.parse is not used: it reads a text without an offset in the box's own zone, and guesses at others.
 */
export function parseInstant(value: unknown): number | null {
  const epoch = finite(value);
  if (epoch !== null) return bounded(epoch < MS_FROM ? epoch * 1000 : epoch);
  const iso = typeof value === 'string' ? ISO.exec(value.trim()) : null;
  if (!iso) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = iso;
  if (
    Number(month) < 1 ||
    Number(month) > 12 ||
    Number(day) < 1 ||
    Number(hour) > 24 ||
    Number(minute) > 59 ||
    Number(second) > 60
  )
    return null;
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.slice(0, 3).padEnd(3, '0')),
  );
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)) return null;
  return bounded(local - offsetMs(zone));
}

function offsetMs(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  const digits = zone.slice(1).replace(':', '');
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || '0')) * 60_000;
}

/** 0 and below is how vendors write "none". */
function bounded(ms: number): number | null {
  return ms > 0 && ms <= LAST ? Math.floor(ms) : null;
}

/** `2026-11-20T05:15:00Z`: UTC to the second, rounded down. */
export function isoSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
