const UNITS = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/**
 * `1500ms`, `90s`, `5m`, `8h`, `2d`; a bare number counts in `bareUnit`s. Null when it is no duration.
 * @returns milliseconds, a whole number
 */
export function parseDuration(value: string, bareUnit: 'ms' | 's'): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)?$/.exec(value.trim());
  const unit = UNITS.get(match?.[2] ?? bareUnit);
  return match?.[1] === undefined || unit === undefined ? null : Math.round(Number(match[1]) * unit);
}

/** An ISO time with its zone, or a duration. Whether the calendar has that day, parseMoment says. */
export const MOMENT_FORM =
  /^(?:\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})|\d{1,12}(?:\.\d{1,6})?(?:ms|s|m|h|d)?)$/;

/** As a refusal names it. */
export const MOMENT = 'a time with its zone (2026-12-01T03:00:00Z), or a duration from now on (90s, 15m, 8h, 2d)';

/**
 * A moment as a request says it; a duration begins now. Null when it is none.
 * @param now milliseconds since the epoch
 */
export function parseMoment(value: string, now: number): number | null {
  if (!MOMENT_FORM.test(value)) return null;
  const duration = parseDuration(value, 's');
  const at = duration === null ? Date.parse(value) : now + duration;
  return Number.isFinite(at) ? at : null;
}
