import { DARK_AFTER_MS } from '#contract';

export type MeterAge = {
  state: 'fresh' | 'stale' | 'dark';
  /** Milliseconds since the vendor wrote the number; null when there is none. */
  ageMs: number | null;
  why: 'young' | 'old' | 'no-reading' | 'runs-ended-since';
};

/**
 * How far a meter's number can be trusted. Stale numbers stay in use, labelled with their age; a dark one also stays in
 * use, at the dark bound. All times in ms. `lastRunEndedAt`: the latest end of a run of ours on that account, null for
 * none. A reading from a clock slightly ahead of ours is of age 0.
 */
export function meterAge(meter: {
  writtenAt: number | null;
  freshnessMs: number;
  lastRunEndedAt: number | null;
  now: number;
}): MeterAge {
  const { writtenAt, freshnessMs, lastRunEndedAt, now } = meter;
  if (writtenAt === null) return { state: 'dark', ageMs: null, why: 'no-reading' };
  const ageMs = Math.max(0, now - writtenAt);
  if (ageMs <= freshnessMs) return { state: 'fresh', ageMs, why: 'young' };
  const unseenRun = lastRunEndedAt !== null && lastRunEndedAt > writtenAt;
  return ageMs > DARK_AFTER_MS && unseenRun
    ? { state: 'dark', ageMs, why: 'runs-ended-since' }
    : { state: 'stale', ageMs, why: 'old' };
}
