import type { Decision, LanesFacts, PolicyConfig, Task } from '#contract';
import { factsOf, laneState, opensAt } from './bands.js';
import { independenceLabel, producerVendor } from './independence.js';

/** `opensAt` (ISO): when the lane would take it again, for work that may not leave it (`--no-failover`). */
export type Confirmation =
  | { kind: 'keep' }
  | {
      kind: 'again';
      code:
        | 'deferred'
        | 'lane-gone'
        | 'missing'
        | 'exhausted'
        | 'closed'
        | 'lane-left'
        | 'model-unavailable'
        | 'independence';
      why: string;
      opensAt: string | null;
    };

/**
 * At start a decision is only confirmed. It is made again when its lane can't or may not take the work any more; a
 * better score elsewhere moves nothing, or a queue would slosh between vendors with every reading.
 */
export function confirm(decision: Decision, task: Task, facts: LanesFacts, config: PolicyConfig): Confirmation {
  const again = (
    code: Extract<Confirmation, { kind: 'again' }>['code'],
    why: string,
    opens: string | null = null,
  ): Confirmation => ({ kind: 'again', code, why, opensAt: opens });
  if (!decision.ok) return again('deferred', 'no lane was chosen yet');
  const lane = config.lanes.find(({ id }) => id === decision.lane);
  if (lane === undefined) return again('lane-gone', `${decision.lane} is no longer configured`);

  const own = factsOf(facts, lane.id);
  const opens = opensAt(own, decision.model, config.pressure);
  const { state, percent } = laneState(own, decision.model, config.pressure);
  if (state === 'missing') return again('missing', `${lane.id} has no CLI here`);
  if (state === 'exhausted') {
    return own.hardBlocked === true
      ? again('closed', `${lane.id} is closed: ${own.blockedBy ?? 'its vendor said so'}`, opens)
      : again('exhausted', `${lane.id} is at ${percent ?? 100}%`, opens);
  }
  if (task.lanesOut?.includes(lane.id))
    return again('lane-left', `${lane.id} was left for a window that is still closed`, opens);
  if (task.modelsOut?.includes(`${lane.id}/${decision.model}`))
    return again('model-unavailable', `${decision.model} does not answer on ${lane.id}`);

  // The producer may have been re-routed since: the label must be true of who really made the thing.
  const label = independenceLabel(lane.vendor, producerVendor(task.independentOf, config));
  if (label !== decision.independence)
    return again(
      'independence',
      `decided as ${decision.independence ?? 'no review'}, but it is ${label ?? 'no review'} now`,
    );
  return { kind: 'keep' };
}
