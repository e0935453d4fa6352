import type { LaneFacts, MeterWindow } from '#contract';
import { inScope } from './scope.js';

/** Percent of a window at `now` (ms): 0 once its reset has passed, whatever the last reading said. */
function percentNow({ usedPercent, resetsAt }: MeterWindow, now: number): number {
  const passed = resetsAt !== null && resetsAt <= now;
  return passed || !(usedPercent > 0) ? 0 : usedPercent;
}

/**
 * The windows that bind a model: the account-wide ones and those scoped to its family. Without a model, the
 * account-wide ones.
 */
function bindingWindows(windows: readonly MeterWindow[], model: string | null): MeterWindow[] {
  return windows.filter(({ scope }) => scope === null || (model !== null && inScope(scope, model)));
}

/** The fullest of these windows at `now`; among equals the one that resets last. Null when there is none. */
function worstOf(windows: readonly MeterWindow[], now: number): MeterWindow | null {
  let worst: MeterWindow | null = null;
  for (const window of windows) {
    const more =
      worst === null
        ? 1
        : percentNow(window, now) - percentNow(worst, now) ||
          (window.resetsAt ?? Infinity) - (worst.resetsAt ?? Infinity);
    if (more > 0) worst = window;
  }
  return worst;
}

export function worstAccountWide(windows: readonly MeterWindow[], now: number): MeterWindow | null {
  return worstOf(bindingWindows(windows, null), now);
}

/** Effective percent of an account for a model at `now`; 0 with no open window. */
export function percentFor(windows: readonly MeterWindow[], model: string | null, now: number): number {
  const worst = worstOf(bindingWindows(windows, model), now);
  return worst === null ? 0 : percentNow(worst, now);
}

/**
 * When these windows are all below `limit` again (ms): the latest reset of those at or over it. Null when none is over,
 * or when one of them states no reset.
 */
export function clearsAt(windows: readonly MeterWindow[], limit: number, now: number): number | null {
  const resets = windows.filter((window) => percentNow(window, now) >= limit).map(({ resetsAt }) => resetsAt);
  let latest: number | null = null;
  for (const reset of resets) {
    if (reset === null) return null;
    latest = Math.max(latest ?? reset, reset);
  }
  return latest;
}

/** The next reset still to come (ms), null when none is stated. */
export function nextReset(windows: readonly MeterWindow[], now: number): number | null {
  const ahead = windows.flatMap(({ resetsAt }) => (resetsAt !== null && resetsAt > now ? [resetsAt] : []));
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/** ISO, or null where no instant can be told (also a number from outside that no date can hold). */
function isoOf(ms: number | null): string | null {
  return ms === null || !(Math.abs(ms) <= 8.64e15) ? null : new Date(ms).toISOString();
}

/**
 * A lane's facts from its account's windows, whose percents are already effective (reported + reserved + settling +
 * estimated). `windows` null = no reading. The caller adds installed, hardBlocked and blockedBy.
 */
export function laneFactsOf(windows: readonly MeterWindow[] | null, exhausted: number, now: number): LaneFacts {
  if (windows === null) return { available: false };
  const accountWide = bindingWindows(windows, null);
  const worst = worstOf(accountWide, now);
  const over = accountWide.some((window) => percentNow(window, now) >= exhausted);
  const opens = over ? clearsAt(accountWide, exhausted, now) : nextReset(worst === null ? [] : [worst], now);
  const scoped = windows.flatMap((window) =>
    window.scope === null
      ? []
      : [{ scope: window.scope, percent: percentNow(window, now), resetsAt: isoOf(window.resetsAt) }],
  );
  return {
    available: true,
    worstPercent: worst === null ? 0 : percentNow(worst, now),
    nextResetAt: isoOf(opens),
    ...(scoped.length === 0 ? {} : { scoped }),
  };
}
