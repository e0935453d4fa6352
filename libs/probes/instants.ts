import { finite } from './json.js';

const ISO =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[T ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d+))?)?)?\s*(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?$/i;
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
  const part = (name: string): number => Number(iso.groups?.[name] ?? 0);
  const [year, month, day] = [part('year'), part('month') - 1, part('day')];
  const [hour, minute, second] = [part('hour'), part('minute'), part('second')];
  // Date.UTC carries over what does not fit (February 30 is March 2): such a text is no instant.
  const midnight = new Date(Date.UTC(year, month, day));
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return null;
  if (hour > 24 || minute > 59 || second > 60) return null;
  const ms = Number((iso.groups?.['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  return bounded(Date.UTC(year, month, day, hour, minute, second, ms) - offsetMs(iso.groups?.['zone'] ?? 'Z'));
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
