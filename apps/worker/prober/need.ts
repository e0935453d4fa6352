import type { Config, LaneConfig } from '#contract';
import { pauseOf, type AccountSnapshot } from '#gate';
import type { Need } from './due.js';
import { runningOf } from './running.js';

export type NeedFacts = {
  /** The lanes of the account; the first one's source is the account's. */
  lanes: readonly LaneConfig[];
  waiting: boolean;
  /** When the source last answered, ms. */
  okAt: number | null;
  now: number;
};

/** How much an account needs a reading (pure). */
export function needOf(snapshot: AccountSnapshot, { lanes, waiting, okAt, now }: NeedFacts, config: Config): Need {
  const { reservations, reading, lastEnd } = snapshot;
  return {
    now,
    waiting,
    inFlight: runningOf(snapshot),
    unsettled: reservations.some(({ state }) => state === 'settling' || state === 'estimated'),
    shut: isShut(snapshot, lanes, config.pressure.exhausted, now),
    writtenAt: reading?.writtenAt ?? null,
    lastEnd,
    okAt,
    freshnessMs: lanes[0]?.freshnessMs ?? 0,
    gatherMs: config.timing.probeGatherMs,
  };
}

/** @param exhausted percent from which a window takes no work */
function isShut(
  { closed, pauses, windows }: AccountSnapshot,
  lanes: readonly LaneConfig[],
  exhausted: number,
  now: number,
): boolean {
  const paused = lanes.every((lane) => pauseOf({ pauses }, lane.id) !== null);
  const full = windows.some(
    ({ scope, usedPercent, resetsAt }) =>
      scope === null && usedPercent >= exhausted && resetsAt !== null && resetsAt > now,
  );
  return paused || full || (closed !== null && closed.until > now);
}
