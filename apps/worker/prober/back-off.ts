import type { Dark } from '#probes';

const LEAST_MS = 60_000;
const MOST_MS = 60 * 60_000;

/**
 * How long a source that gave no number is left alone, ms: what it asked for, at least a minute, doubled with each
 * failure in a row, at most an hour. The usage endpoint is known to answer 429 with `retry-after: 0` for hours.
 * @param failures in a row before this one
 */
export function backOffMs({ retryAfterMs }: Pick<Dark, 'retryAfterMs'>, failures: number): number {
  const base = Math.max(LEAST_MS, retryAfterMs ?? 0);
  return Math.min(MOST_MS, base * 2 ** Math.min(failures, 10));
}
