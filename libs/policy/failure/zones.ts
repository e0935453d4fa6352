/**
 * Wall time of a named zone ↔ instants, by Intl alone. A wall time of the night the clocks go back has two instants,
 * one of the night they go forward has none of its own (the instant after the gap stands in).
 */
export type Wall = { year: number; month: number; day: number; hour: number; minute: number; second: number };

export type Zone = { wallAt: (instant: number) => Wall; instantsOf: (wall: Wall) => number[] };

const DAY = 86_400_000;
/** Zone names come from vendors' texts: the cache must not grow with them. */
const CACHE_MAX = 64;
const cache = new Map<string, Zone | null>();

/** @param name IANA name, `UTC`, `GMT+2`, `+02:00`; anything else gives null. */
export function zoneOf(name: string): Zone | null {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const made = fixedOffset(name) ?? named(name);
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(name, made);
  return made;
}

function utc(wall: Wall): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

function wallOfUtc(instant: number): Wall {
  const date = new Date(instant);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

function fixedOffset(name: string): Zone | null {
  const match = /^(?:(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?(\d{2}))?|utc|gmt|z)$/i.exec(name.trim());
  if (!match) return null;
  const hours = Number(match[2] ?? 0);
  const minutes = Number(match[3] ?? 0);
  if (hours > 14 || minutes > 59) return null;
  const offset = (match[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return { wallAt: (instant) => wallOfUtc(instant + offset), instantsOf: (wall) => [utc(wall) - offset] };
}

function named(name: string): Zone | null {
  // A word with a slash, or one of the few plain ones Intl knows; never a sentence.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/.test(name)) return null;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
  const wallAt = (instant: number): Wall => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
    for (const { type, value } of format.formatToParts(new Date(instant))) part[type] = value;
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(part[type] ?? 0);
    return {
      year: number('year'),
      month: number('month'),
      day: number('day'),
      hour: number('hour'),
      minute: number('minute'),
      second: number('second'),
    };
  };
  const offsetAt = (instant: number) => utc(wallAt(instant)) - Math.floor(instant / 1000) * 1000;
  const instantsOf = (wall: Wall): number[] => {
    const guess = utc(wall);
    const before = offsetAt(guess - DAY);
    const after = offsetAt(guess + DAY);
    const found = [...new Set([guess - before, guess - after])]
      .filter((instant) => utc(wallAt(instant)) === guess)
      .sort((a, b) => a - b);
    return found.length > 0 ? found : [guess - before];
  };
  return { wallAt, instantsOf };
}
