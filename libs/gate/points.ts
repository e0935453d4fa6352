import type { CostVector, LaneConfig } from '#contract';

/** Points of a window → whole thousandths. The gate never sees a float. */
export function thousandths(points: number): number {
  return Math.round(points * 1000);
}

/** What one attempt of this lane is taken to cost, per kind of window, before it was measured. */
export function laneCost(lane: LaneConfig): CostVector {
  return Object.fromEntries(Object.entries(lane.cost).map(([kind, points]) => [kind, thousandths(points)]));
}

/** Thousandths per window id of one attempt. A window of some models that this tier's isn't of stands there with 0. */
export type CostsOf = (lane: LaneConfig, tier: string) => CostVector;

/** What the cheapest tier needs in each window: below that, no attempt of the lane fits. */
export function cheapest(lane: LaneConfig, costsOf: CostsOf): CostVector {
  const vectors = Object.keys(lane.models).map((tier) => costsOf(lane, tier));
  const windows = new Set(vectors.flatMap((vector) => Object.keys(vector)));
  return Object.fromEntries(
    [...windows].map((window) => [window, Math.min(...vectors.map((vector) => vector[window] ?? 0))]),
  );
}
