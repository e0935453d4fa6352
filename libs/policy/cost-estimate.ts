import { inScope } from './scope.js';

/**
 * What an attempt costs, learnt from how the meter moved while it ran. Pure: a ledger in, a ledger and samples out.
 *
 * Between two readings of a window its percent rose by d. The runs in flight in between share d by the time they ran in
 * it (of a window of some models, the runs of those); time without runs is somebody else's spending, charged to no run.
 * A run is complete for a window once a reading was written after its end, and then its shares are one sample for its
 * lane and tier. Whatever makes a share doubtful (the window reset, the number fell, no reading from before the run)
 * makes the run no sample of that window: a wrong cost is worse than a default one.
 */
export type CostRun = {
  lane: string;
  tier: string;
  model: string;
  /** Milliseconds by the clock of the readings; null while it runs. */
  from: number;
  to: number | null;
  /** Points of each window so far; null: doubtful. */
  points: Record<string, number | null>;
};

export type CostLedger = {
  windows: Record<string, { usedPercent: number; resetsAt: number | null; at: number }>;
  runs: Record<string, CostRun>;
};

export type CostSample = { lane: string; tier: string; window: string; points: number };

export type CostReading = {
  at: number;
  windows: readonly { id: string; scope: string | null; usedPercent: number; resetsAt: number | null }[];
};

export type CostRunFacts = Pick<CostRun, 'lane' | 'tier' | 'model' | 'from'>;

export const EMPTY_LEDGER: CostLedger = { windows: {}, runs: {} };

/** Samples needed before they outweigh the default. */
const LEAST_SAMPLES = 10;
/** Only this many of the newest count: models and prompts change. */
export const MOST_SAMPLES = 50;
/** Points. A lane whose runs round to nothing must still not be started without end on one reading. */
const COST_FLOOR = 0.05;
/**
 * One agent that takes half of a window in one go isn't one: another login was read, or the number is of something
 * else.
 */
const MOST_POINTS = 50;
/** Resets come with jitter; further apart they are two windows. */
const SAME_RESET_MS = 10 * 60_000;
/** The last answer is billed a little after its run has ended. */
const BILLED_WITHIN_MS = 2_000;
/** A run that no reading completes in this time is forgotten. */
const FORGET_MS = 60 * 60_000;
/** One that never ended: its box is gone. */
const LOST_MS = 48 * 60 * 60_000;
const MOST_RUNS = 1_000;

/** A run has begun. The same id again changes nothing. */
export function runBegan(ledger: CostLedger, id: string, run: CostRunFacts): CostLedger {
  if (Object.hasOwn(ledger.runs, id) || Object.keys(ledger.runs).length >= MOST_RUNS) return ledger;
  return { ...ledger, runs: { ...ledger.runs, [id]: { ...run, to: null, points: {} } } };
}

/** It has ended. One whose beginning was missed is put in whole: it shares what is read from now on. */
export function runEnded(ledger: CostLedger, id: string, run: CostRunFacts & { to: number }): CostLedger {
  const known = Object.hasOwn(ledger.runs, id) ? ledger.runs[id] : undefined;
  if (known && known.to !== null) return ledger;
  const points = known?.points ?? missed(ledger, run.from);
  return { ...ledger, runs: { ...ledger.runs, [id]: { ...run, from: known?.from ?? run.from, points } } };
}

/** An attempt that was refused or never reached its vendor says nothing about the cost of one that works. */
export function runDropped(ledger: CostLedger, id: string): CostLedger {
  if (!Object.hasOwn(ledger.runs, id)) return ledger;
  const { [id]: _, ...runs } = ledger.runs;
  return { ...ledger, runs };
}

/**
 * A reading: its rise is shared out, and the runs that it completes become samples. Older than what is known: nothing.
 */
export function readingTaken(ledger: CostLedger, reading: CostReading): { ledger: CostLedger; samples: CostSample[] } {
  const windows = { ...ledger.windows };
  const runs = Object.fromEntries(
    Object.entries(ledger.runs).map(([id, run]) => [id, { ...run, points: { ...run.points } }]),
  );
  const samples: CostSample[] = [];
  for (const { id: window, scope, usedPercent, resetsAt } of reading.windows) {
    const before = Object.hasOwn(windows, window) ? windows[window] : undefined;
    if (before && reading.at <= before.at) continue;
    windows[window] = { usedPercent, resetsAt, at: reading.at };
    const rise = before && sameWindow(before.resetsAt, resetsAt) ? usedPercent - before.usedPercent : null;
    const since = before?.at ?? Number.NEGATIVE_INFINITY;
    share(
      Object.values(runs).filter(({ model }) => scope === null || inScope(scope, model)),
      window,
      { from: since, to: reading.at, rise: rise !== null && rise >= 0 ? rise : null },
    );
    for (const run of Object.values(runs)) {
      if (run.to === null || run.to >= reading.at || !Object.hasOwn(run.points, window)) continue;
      const points = run.points[window] ?? null;
      // Taken once: from here on this window has nothing more to say about the run.
      run.points[window] = null;
      if (points !== null && points <= MOST_POINTS) samples.push({ lane: run.lane, tier: run.tier, window, points });
    }
  }
  const kept = Object.entries(runs).filter(([, run]) => !isDone(run, windows, reading.at));
  return { ledger: { windows, runs: Object.fromEntries(kept) }, samples };
}

/** Points per attempt: the mean of the newest samples, never under the floor; null while there are too few. */
export function costOf(samples: readonly number[]): number | null {
  const good = samples.filter((points) => points >= 0 && points <= MOST_POINTS).slice(0, MOST_SAMPLES);
  if (good.length < LEAST_SAMPLES) return null;
  const mean = good.reduce((sum, points) => sum + points, 0) / good.length;
  return Math.max(COST_FLOOR, Number(mean.toFixed(3)));
}

/** By the time that each run spent between the two readings, so that a frontier run takes its larger part. */
function share(
  runs: CostRun[],
  window: string,
  { from, to, rise }: { from: number; to: number; rise: number | null },
): void {
  const within = runs
    .map((run) => ({ run, ms: Math.min(billedUntil(run, from) ?? to, to) - Math.max(run.from, from) }))
    .filter(({ ms }) => ms > 0);
  const total = within.reduce((sum, { ms }) => sum + ms, 0);
  for (const { run, ms } of within) {
    const so = Object.hasOwn(run.points, window) ? (run.points[window] ?? null) : 0;
    run.points[window] = rise === null || so === null ? null : so + (rise * ms) / total;
  }
}

/** Null: it runs. A run that ended before the interval was complete at its start. */
function billedUntil({ to }: CostRun, intervalFrom: number): number | null {
  return to === null || to < intervalFrom ? to : to + BILLED_WITHIN_MS;
}

/** A jittering reset is the same window; one without a reset is too, as long as its number doesn't fall. */
function sameWindow(before: number | null, after: number | null): boolean {
  return before === null || after === null ? before === after : Math.abs(after - before) <= SAME_RESET_MS;
}

/** For every window it is a sample or doubtful by now, or it is too old for one. */
function isDone({ from, to }: CostRun, windows: CostLedger['windows'], now: number): boolean {
  if (to === null) return now - from > LOST_MS;
  return now - to > FORGET_MS || Object.values(windows).every(({ at }) => at > to);
}

/** Readings taken before the run was known to the ledger are not its to share. */
function missed(ledger: CostLedger, from: number): Record<string, null> {
  return Object.fromEntries(Object.entries(ledger.windows).flatMap(([id, { at }]) => (at > from ? [[id, null]] : [])));
}
