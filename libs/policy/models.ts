import type { PolicyConfig, Task, Tier } from '#contract';
import { factorsOf } from './factors.js';
import { floorOf } from './tier.js';

export type PolicyLane = PolicyConfig['lanes'][number];

/** What a lane would run for a task. `tier` differs from the one asked for when that tier's model is unavailable. */
export type Offer = { tier: Tier; model: string; effort: string | null; pinned: boolean; insteadOf: string | null };

// A dearer substitute spends more; a weaker one may fail the task. So the nearest above first.
const SUBSTITUTES: Record<Tier, readonly Tier[]> = {
  fast: ['fast', 'balanced', 'frontier'],
  balanced: ['balanced', 'frontier', 'fast'],
  frontier: ['frontier', 'balanced', 'fast'],
};
const HEIGHT: Record<Tier, number> = { fast: 0, balanced: 1, frontier: 2 };

/**
 * The lane's model and effort for a tier, or null when every model it may use answered model_unavailable in this
 * dispatch. A model named by the person comes first; its effort is that of the tier's entry.
 */
export function offerOf(lane: PolicyLane, tier: Tier, task: Task): Offer | null {
  const out = (model: string): boolean => task.modelsOut?.includes(`${lane.id}/${model}`) ?? false;
  const named = task.pinModel;
  const namedHere = named !== undefined && (task.pinModelLane ?? lane.id) === lane.id;
  if (namedHere && !out(named))
    return { tier, model: named, effort: lane.models[tier].effort ?? null, pinned: true, insteadOf: null };

  const floor = HEIGHT[floorOf(factorsOf(task))];
  const found = SUBSTITUTES[tier].find((other) => HEIGHT[other] >= floor && !out(lane.models[other].model));
  if (found === undefined) return null;
  const { model, effort } = lane.models[found];
  const asked = namedHere ? named : lane.models[tier].model;
  return { tier: found, model, effort: effort ?? null, pinned: false, insteadOf: asked === model ? null : asked };
}
