import {
  attemptId,
  errorBody,
  type AttemptReceipt,
  type Began,
  type DiffStat,
  type DispatchRecord,
  type ErrorBody,
  type Failure,
  type LaneConfig,
  type LanesFacts,
  type NextStep,
  type Outcome,
  type PastAttempt,
  type RunReading,
  type StepFailure,
} from '#contract';
import type { RunPlan } from '#runner';

/** What the tender found out about an attempt that is over. */
export type RunEnd = {
  reading: RunReading;
  /** The processes are gone without an exit record. */
  interrupted: boolean;
  /** Its node is gone with it. */
  lost?: true;
  /** A cancel was asked for and ended it. */
  cancelled: boolean;
  exitCode: number | null;
  signal: string | null;
  /** ms. */
  startedAt: number;
  endedAt: number;
  /** The vendor session that can go on here: its files are there. */
  resumable: string | null;
  /** As the CLI itself named it. */
  cliVersion: string | null;
  /** Of a writer in a git tree whose plan has the same from before. */
  after?: DiffStat | null;
  /** What it was taken to cost, as its receipt keeps it. */
  cost?: NonNullable<AttemptReceipt['cost']>;
  notes: string[];
};

/** An attempt, as its folder knows it: enough for its line even when Redis has forgotten the dispatch. */
export type AttemptFacts = { plan: RunPlan; adopted: boolean; fenced: boolean };

/** An attempt that is over, with all that what follows it is decided from. */
export type AttemptOver = {
  record: DispatchRecord;
  /** Where it ran. */
  lane: LaneConfig;
  attempt: AttemptFacts;
  end: RunEnd;
  /** The lanes as they are now. */
  facts: LanesFacts;
  /** Lanes that the dispatch left for an event which is still on. */
  out: string[];
};

export function outcomeOf(end: RunEnd): Outcome {
  if (end.reading.ok) return 'ok';
  if (end.cancelled) return 'cancelled';
  if (end.interrupted) return end.lost ? 'lost' : 'interrupted';
  return end.reading.failure.class === 'timeout' ? 'timed_out' : 'failed';
}

/** The failure as nextStep takes it; null when the attempt answered or was cancelled. */
export function stepFailureOf(end: RunEnd): StepFailure | null {
  if (end.reading.ok || end.cancelled) return null;
  return end.interrupted ? { class: end.lost ? 'lost' : 'interrupted' } : end.reading.failure;
}

/** Whether it may have acted. What was cut off may have, without a word of it reaching the spool. */
export function beganOf({ interrupted, reading }: RunEnd): Began {
  return interrupted && reading.began === 'no' ? 'unknown' : reading.began;
}

export function failureOf(end: RunEnd): Failure | null {
  return end.reading.ok || end.cancelled || end.interrupted ? null : end.reading.failure;
}

/** The attempt as the record remembers it, and as its receipt line says it. */
export function attemptOf(
  { plan, adopted, fenced }: AttemptFacts,
  end: RunEnd,
  next: string,
): { past: PastAttempt; receipt: AttemptReceipt } {
  const failure = failureOf(end);
  const { lane, vendor, model, effort, tier, node, attempt } = plan;
  const shared = {
    attempt,
    lane,
    vendor,
    model,
    effort,
    tier,
    node,
    outcome: outcomeOf(end),
    class: failure?.class ?? null,
    resetsAt: failure?.resetsAt ?? null,
    words: failure === null ? null : failure.words.slice(0, 500),
    exitCode: end.exitCode,
    signal: end.signal,
    usage: end.reading.usage,
    session: end.reading.session ?? plan.session,
    next,
  };
  return {
    past: { ...shared, startedAt: end.startedAt, endedAt: end.endedAt, began: beganOf(end) },
    receipt: {
      kind: 'attempt',
      schema: 'cmo.receipt/1',
      id: attemptId(plan.dispatch, attempt),
      dispatch: plan.dispatch,
      at: new Date(end.endedAt).toISOString(),
      project: plan.project,
      batch: plan.batch,
      access: plan.access,
      ...shared,
      startedAt: new Date(end.startedAt).toISOString(),
      durationMs: Math.max(end.endedAt - end.startedAt, 0),
      cliVersion: end.cliVersion ?? plan.cliVersion,
      endpoint: plan.endpoint,
      adopted,
      ...(end.cost ? { cost: end.cost } : {}),
      fenced,
      ...(plan.before && end.after ? { diff: { before: plan.before, after: end.after } } : {}),
      notes: [...(plan.takesUp ? [plan.takesUp] : []), ...end.notes],
    },
  };
}

/** Why a dispatch that stops failed, as its envelope says it. */
export function errorOfStop(end: RunEnd, step: Extract<NextStep, { kind: 'stop' }>): ErrorBody {
  const failure = failureOf(end);
  if (step.poison)
    return errorBody(
      step.needsLook ? 'CMO_E_NEEDS_LOOK' : 'CMO_E_FAILED',
      step.why,
      failure && failure.words !== '' ? { details: [failure.words.slice(0, 500)] } : {},
    );
  if (step.needsLook) return errorBody('CMO_E_NEEDS_LOOK', undefined, { details: [step.why] });
  if (failure === null) return errorBody('CMO_E_FAILED', `the agent was ${outcomeOf(end)}`, { details: [step.why] });
  const code = failure.class === 'timeout' ? 'CMO_E_TIMED_OUT' : 'CMO_E_FAILED';
  return errorBody(code, failure.words === '' ? undefined : failure.words.slice(0, 500), {
    details: [step.why.startsWith(`${failure.class}: `) ? step.why : `${failure.class}: ${step.why}`],
  });
}
