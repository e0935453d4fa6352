import type { CostVector, LaneConfig } from '#contract';

/** Points of a window → whole thousandths. The gate never sees a float. */
export function thousandths(points: number): number {
  return Math.round(points * 1000);
}

/** What one attempt of this lane is taken to cost, per kind of window, before it was measured. */
export function laneCost(lane: LaneConfig): CostVector {
  return Object.fromEntries(Object.entries(lane.cost).map(([kind, points]) => [kind, thousandths(points)]));
}
