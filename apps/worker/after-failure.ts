import {
  errorBody,
  policyConfig,
  TIERS,
  type Config,
  type Decision,
  type DispatchRecord,
  type LaneConfig,
  type LanesFacts,
  type NextStep,
  type StepFailure,
  type TakeUp,
  type Task,
} from '#contract';
import { decide, nextStep, offerOf } from '#policy';
import type { Closing, Next } from '#queue';
import { beganOf, errorOfStop, failureOf, type AttemptFacts, type AttemptOver, type RunEnd } from './attempt-lines.js';
import { withinDeadline } from './overdue.js';
import { placement, rerouted, type Leaving } from './placement.js';
import { laneById, type Resources } from './resources.js';
import { beganBefore, takeUpAfter } from './take-up.js';
import { pastFailures, taskOfRecord } from './task-of.js';

/** `words`: as the receipt says it. `close`: the lane's account is shut with the delivery. */
export type AfterFailure = { next: Next; words: string; close: Closing | null };

/**
 * What follows a failed attempt (pure but for clock and randomness): the policy's step, turned into the record's next
 * state. Where the step closes the attempt's own lane, it is closed already in what is decided next.
 */
export function afterFailure(
  { config, clock, random }: Pick<Resources, 'config' | 'clock' | 'random'>,
  over: AttemptOver,
  failure: StepFailure,
): AfterFailure {
  const { record, lane, attempt, end, facts } = over;
  const now = clock();
  const task = taskOfRecord(record, { lanesOut: over.out });
  const left = { available: false, hardBlocked: true, blockedBy: 'left' };
  const elsewhere = decide(task, { ...facts, [lane.id]: left }, policyConfig(config));
  const step = nextStep(failure, pastFailures(record), {
    now,
    random: random(),
    access: record.access,
    began: beganOf(end),
    beganBefore: beganBefore(record),
    session: end.resumable,
    retryWrites: record.request.retryWrites ?? false,
    failover: mayMove(record, failure.class),
    attempts: record.request.attempts ?? null,
    lane: lane.id,
    otherLanes: otherLane(elsewhere, lane, config),
    otherModel: otherModelOf(config, lane, task, attempt.plan),
  });
  const close = closingOf(failure, step);
  const closedFacts: LanesFacts = close ? { ...facts, [lane.id]: closedLane(facts, lane, close) } : facts;
  const again = decide(task, closedFacts, policyConfig(config));
  const takeUp = step.kind === 'stop' ? null : takeUpAfter(step, record, attempt, end);
  const next = lookedAfter(nextOf(step, over, { takeUp, again, elsewhere, config, now }), record, end);
  return {
    next: withinDeadline(next, record, failure.class === 'timeout', now),
    words: `${step.kind}: ${step.why}`,
    close,
  };
}

/** Where the policy would put it, were this lane gone. */
function otherLane(elsewhere: Decision, lane: LaneConfig, config: Config): string[] {
  if (!elsewhere.ok || elsewhere.lane === lane.id) return [];
  return laneById(config, elsewhere.lane) ? [elsewhere.lane] : [];
}

/** What the next state may be made of. */
type Ways = {
  /** How the next attempt takes up what this one left; null: from the prompt alone. */
  takeUp: TakeUp | null;
  /** The decision over all lanes, this one closed where the step closes it. */
  again: Decision;
  /** The decision with this lane out of the question. */
  elsewhere: Decision;
  config: Config;
  now: number;
};

/** The policy's step as the record's next state. */
function nextOf(step: NextStep, { record, lane, end }: AttemptOver, ways: Ways): Next {
  const { takeUp, again, elsewhere, config, now } = ways;
  const attempt = record.attempt + 1;
  switch (step.kind) {
    case 'retry': {
      const waits = step.notBefore > now;
      return {
        state: waits ? 'retrying' : 'queued',
        event: 'retried',
        change: { attempt, notBefore: waits ? Math.ceil(step.notBefore) : null, takeUp },
      };
    }
    case 'switch':
      return rerouted(
        placement({ record, decision: elsewhere, event: 'rerouted', takeUp, config, now }),
        record,
        leavingFor(step, lane, end),
      );
    case 'wait': {
      // With no usable lane at all it waits where a window opens first; otherwise (no failover, budgets) this lane is
      // the only one.
      if (!again.ok && (record.request.failover ?? true))
        return rerouted(
          placement({ record, decision: again, event: 'waits', takeUp, config, now }),
          record,
          leavingFor(step, lane, end),
        );
      if (record.waitUntil === null || record.waitUntil > now)
        return { state: 'queued', event: 'waits', change: { attempt, notBefore: null, takeUp } };
      const retryAfter = step.until === null ? null : new Date(step.until).toISOString();
      return {
        state: 'deferred',
        event: 'deferred',
        change: { error: errorBody('CMO_E_DEFERRED', `${lane.id} is closed: ${step.why}`, { retryAfter }) },
      };
    }
    case 'stop':
      return {
        state: end.reading.ok || end.reading.failure.class !== 'timeout' ? 'failed' : 'timed_out',
        event: 'failed',
        change: { error: errorOfStop(end, step), needsLook: step.needsLook },
      };
  }
}

/** Work that was begun but may wait no longer: the caller must not take it for work that was never started. */
function lookedAfter(next: Next, record: DispatchRecord, end: RunEnd): Next {
  const touched = record.access === 'write' && (beganOf(end) !== 'no' || beganBefore(record));
  return next.state === 'deferred' && touched ? { ...next, change: { ...next.change, needsLook: true } } : next;
}

/** Another model of the same lane, once this one has answered model_unavailable. */
function otherModelOf(config: Config, lane: LaneConfig, task: Task, plan: AttemptFacts['plan']): string | null {
  const policyLane = policyConfig(config).lanes.find(({ id }) => id === lane.id);
  const tier = TIERS.find((word) => word === plan.tier);
  if (!policyLane || !tier) return null;
  const modelsOut = [...(task.modelsOut ?? []), `${lane.id}/${plan.model}`];
  return offerOf(policyLane, tier, { ...task, modelsOut })?.model ?? null;
}

function closingOf(failure: { class: string; resetsAt?: string | null }, step: NextStep): Closing | null {
  if (step.kind === 'retry' || !step.closeLane) return null;
  const til = Date.parse(failure.resetsAt ?? '');
  return { til: Number.isNaN(til) ? null : til, reason: failure.class };
}

function closedLane(facts: LanesFacts, lane: LaneConfig, close: Closing): LanesFacts[string] {
  const own = facts[lane.id] ?? { available: false };
  return {
    ...own,
    hardBlocked: true,
    blockedBy: close.reason,
    nextResetAt: close.til === null ? null : new Date(close.til).toISOString(),
  };
}

/**
 * A window alone never moves work that must be graded by another vendor whatever that costs; a pin the policy itself
 * keeps.
 */
function mayMove({ request }: DispatchRecord, cls: string): boolean {
  if (request.strictIndependence === true && (cls === 'usage_limit' || cls === 'rate_limit')) return false;
  return request.failover ?? true;
}

function leavingFor(step: Extract<NextStep, { closeLane: boolean }>, lane: LaneConfig, end: RunEnd): Leaving {
  const failure = failureOf(end);
  return { from: lane.id, why: failure?.class ?? 'interrupted', event: step.closeLane ? 'closing' : null };
}
