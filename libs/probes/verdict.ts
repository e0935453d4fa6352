import type { MeterWindow } from '#contract';
import type { Reached } from './reading.js';

export type Verdict = {
  exhausted: boolean;
  /** Milliseconds; null when not exhausted, or when no reset is known. */
  blockedUntil: number | null;
  /** Exhausted with nothing that resets by itself (credits used up): closed until a person acts. */
  needsPerson: boolean;
};

/**
 * Whether the account is closed, from one reading. A window that binds only some models never closes the account. Among
 * full windows the latest reset counts (all of them must open); a flag without a time of its own doesn't say which
 * window it means, so it waits for the earliest reset, where a look costs one canary. `limit` in percent, default 95
 * (`pressure.exhausted`).
 */
export function verdict(windows: readonly MeterWindow[], reached: Reached | null, limit = 95): Verdict {
  const account = windows.filter(({ scope }) => scope === null);
  const full = account.filter(({ usedPercent }) => usedPercent >= limit);
  if (full.length > 0) return { exhausted: true, blockedUntil: latest(resets(full)), needsPerson: false };
  if (!reached) return { exhausted: false, blockedUntil: null, needsPerson: false };
  const blockedUntil = reached.resetsAt ?? earliest(resets(account));
  return { exhausted: true, blockedUntil, needsPerson: blockedUntil === null && account.length === 0 };
}

const resets = (windows: readonly MeterWindow[]): number[] =>
  windows.flatMap(({ resetsAt }) => (resetsAt === null ? [] : [resetsAt]));
const latest = (times: readonly number[]): number | null => (times.length > 0 ? Math.max(...times) : null);
const earliest = (times: readonly number[]): number | null => (times.length > 0 ? Math.min(...times) : null);
