import { errorBody, type Chosen, type Config, type Decision, type PlanEnvelope, type TierModel } from '#contract';
import { deferral } from '#policy/deferral';
import type { Picture } from '../plan/picture.js';
import type { Plan } from '../plan/plan-one.js';

/** A plan under the names of the tool that people come from, with ours; `decision` is whole, for `cmo replay`. */
export function planJson(
  { decision, room }: Plan,
  { data, age, stale }: Picture,
  config: Config,
  batch: string | null,
): PlanEnvelope {
  const { weight, tier, reason, factors, notes, laneStates, candidates } = decision;
  return {
    schema: 'cmo.envelope/1',
    ok: decision.ok,
    defer: decision.defer,
    state: decision.ok ? null : 'deferred',
    ...(decision.ok ? laneOf(decision.lane, decision, config) : { provider: null, lane: null, vendor: null }),
    tier,
    ...(decision.independence !== null && { independence: decision.independence }),
    ...(decision.ok && decision.degradedReview && { degradedReview: true }),
    weight,
    reason,
    ...(decision.ok
      ? { fallback: fallbackOf(decision, config) }
      : {
          reasonCode: decision.reasonCode,
          ...(decision.detail && { detail: decision.detail }),
          resumeAfter: decision.resumeAfter,
          error: deferredError(decision),
        }),
    factors,
    states: laneStates,
    candidates: candidates.map((one) => ({ provider: one.lane, ...one })),
    notes,
    waiting: room !== null && !room.free ? { for: room.for, why: room.why, until: room.until } : null,
    meters: age === null ? null : { writtenAt: data.writtenAt, ageMs: age, stale },
    batch,
    receipts: [],
    decision,
  };
}

function fallbackOf({ fallback, tier }: Chosen, config: Config): object | null {
  const lane = config.lanes.find(({ id }) => id === fallback);
  return lane ? { ...laneOf(lane.id, { ...lane.models[tier] }, config), tier } : null;
}

/** Each CLI's own word for the effort stands beside ours. */
function laneOf(id: string, { model, effort }: TierModel | Chosen, config: Config): object {
  const lane = config.lanes.find((one) => one.id === id);
  return {
    provider: id,
    lane: id,
    vendor: lane?.vendor ?? null,
    binary: lane?.command ?? null,
    model,
    effort: effort ?? null,
    ...(lane?.kind === 'codex' && { reasoning: effort ?? null }),
  };
}

/** The words of a `run` that defers; exit 3 all the same where it would be a login that is missing. */
function deferredError(decision: Exclude<Decision, Chosen>): ReturnType<typeof errorBody> {
  const { details = [], fix } = deferral(decision);
  return errorBody('CMO_E_DEFERRED', undefined, { details, fix, retryAfter: decision.resumeAfter });
}
