import {
  errorBody,
  policyConfig,
  TIERS,
  type Decision,
  type DispatchRecord,
  type LaneConfig,
  type LanesFacts,
  type NextStep,
  type TakeUp,
  type Task,
} from '#contract';
import { decide, incomplete, nextStep, offerOf } from '#policy';
import type { Closing, Next } from '#queue';
import {
  attemptOf,
  beganOf,
  errorOfStop,
  failureOf,
  stepFailureOf,
  type AttemptFacts,
  type RunEnd,
} from './attempt-lines.js';
import type { Conclusion } from './conclusion-file.js';
import { ownUsage } from './own-usage.js';
import { withinDeadline } from './overdue.js';
import { placement, rerouted, type Leaving } from './placement.js';
import type { Resources } from './resources.js';
import { beganBefore, takeUpAfter } from './take-up.js';
import { pastFailures, taskOfRecord } from './task-of.js';

export type AttemptToConclude = {
  record: DispatchRecord;
  /** Where the attempt ran. */
  lane: LaneConfig;
  attempt: AttemptFacts;
  end: RunEnd;
  /** The lanes as they are now. */
  facts: LanesFacts;
  /** Lanes that the dispatch left for an event which is still on. */
  out: string[];
};

/**
 * What follows an attempt that is over: the policy's step, turned into the record's next state. Pure but for its
 * arguments. Where the step closes the attempt's own lane, it is closed already in what is decided next.
 */
export function conclude(
  { config, clock, random }: Pick<Resources, 'config' | 'clock' | 'random'>,
  { record, lane, attempt, end: ended, facts, out }: AttemptToConclude,
): Conclusion {
  const now = clock();
  const usage = ownUsage(
    attempt.plan,
    ended.reading.session ?? attempt.plan.session,
    ended.reading.usage,
    record.history,
  );
  const end: RunEnd = { ...ended, reading: { ...ended.reading, usage } };
  const failure = stepFailureOf(end);
  const task = taskOfRecord(record, { lanesOut: out });
  const policy = policyConfig(config);
  const others = config.lanes.filter((other) => other.id !== lane.id);

  const finish = (
    next: Next,
    words: string,
    more: Partial<Pick<Conclusion, 'close' | 'success' | 'drift' | 'result' | 'structured' | 'partial'>>,
  ): Conclusion => {
    const { past, receipt } = attemptOf(attempt, end, words);
    const history = [...record.history, past];
    const withHistory = (what: Next): Next => ({ ...what, change: { ...what.change, history } });
    const cancelled: Next = { state: 'cancelled', event: 'cancelled', change: { error: errorBody('CMO_E_CANCELLED') } };
    return {
      receipt,
      next: withHistory(next),
      cancelled: withHistory(cancelled),
      close: null,
      success: false,
      result: null,
      structured: null,
      partial:
        end.reading.ok || end.reading.partial === null
          ? null
          : incomplete(end.reading.partial, receipt.class ?? receipt.outcome),
      ...more,
    };
  };

  if (end.reading.ok) {
    const { text, structured } = end.reading;
    const value = structured === undefined ? null : JSON.stringify(structured);
    return finish({ state: 'succeeded', event: 'succeeded', change: {} }, 'answered', {
      success: true,
      result: text,
      structured: value,
    });
  }
  if (failure === null)
    return finish(
      { state: 'cancelled', event: 'cancelled', change: { error: errorBody('CMO_E_CANCELLED') } },
      'cancelled',
      {},
    );

  const left = { available: false, hardBlocked: true, blockedBy: 'left' };
  const elsewhere = decide(task, { ...facts, [lane.id]: left }, policy);
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
    otherLanes: elsewhere.ok && others.some((other) => other.id === elsewhere.lane) ? [elsewhere.lane] : [],
    otherModel: otherModelOf(config, lane, task, attempt.plan),
  });
  const close = closingOf(failure, step);
  const closedFacts: LanesFacts = close ? { ...facts, [lane.id]: closedLane(facts, lane, close) } : facts;
  const takeUp = step.kind === 'stop' ? null : takeUpAfter(step, record, attempt, end);
  const again = decide(task, closedFacts, policy);
  const next = nextOf(step, { record, lane, end, takeUp, again, elsewhere, config, now });
  const bounded = withinDeadline(lookedAfter(next, record, end), record, failure.class === 'timeout', now);
  return finish(bounded, `${step.kind}: ${step.why}`, { close, drift: 'drift' in failure });
}

/** Work that was begun but may wait no longer: the caller must not take it for work that was never started. */
function lookedAfter(next: Next, record: DispatchRecord, end: RunEnd): Next {
  const touched = record.access === 'write' && (beganOf(end) !== 'no' || beganBefore(record));
  return next.state === 'deferred' && touched ? { ...next, change: { ...next.change, needsLook: true } } : next;
}

/** Another model of the same lane, once this one has answered model_unavailable. */
function otherModelOf(
  config: Resources['config'],
  lane: LaneConfig,
  task: Task,
  plan: AttemptFacts['plan'],
): string | null {
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

type AttemptOver = {
  record: DispatchRecord;
  /** Where the attempt ran. */
  lane: LaneConfig;
  end: RunEnd;
  /** How the next attempt takes up what this one left; null: from the prompt alone. */
  takeUp: TakeUp | null;
  /** The decision over all lanes, this one closed where the step closes it. */
  again: Decision;
  /** The decision with this lane out of the question. */
  elsewhere: Decision;
  config: Resources['config'];
  now: number;
};

/** The policy's step as the record's next state. */
function nextOf(step: NextStep, { record, lane, end, takeUp, again, elsewhere, config, now }: AttemptOver): Next {
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

/** For a run that Redis has no record of: its line, and nothing else. It is shown as an orphan, never run again. */
export function concludeOrphan(attempt: AttemptFacts, end: RunEnd): Conclusion {
  const { receipt } = attemptOf(
    attempt,
    { ...end, notes: [...end.notes, 'orphan'] },
    'orphan: Redis has no record of it',
  );
  const nothing: Next = { state: 'cancelled', event: 'orphan', change: {} };
  return {
    receipt,
    next: nothing,
    cancelled: nothing,
    close: null,
    success: false,
    result: null,
    structured: null,
    partial: null,
  };
}
