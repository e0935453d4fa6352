import type { DispatchRecord, NextStep, TakeUp } from '#contract';
import { beganOf, failureOf, type AttemptFacts, type RunEnd } from './attempt-lines.js';

/** An attempt of this dispatch that is over may have acted. Older daemons didn't say: then it may. */
export function beganBefore(record: Pick<DispatchRecord, 'history'>): boolean {
  return record.history.some((past) => past.began !== 'no');
}

/**
 * How the next attempt begins, after this one and by the policy's step. On which lane it will be is not settled here.
 */
export function takeUpAfter(
  step: Exclude<NextStep, { kind: 'stop' }>,
  record: DispatchRecord,
  { plan }: Pick<AttemptFacts, 'plan'>,
  end: RunEnd,
): TakeUp | null {
  if (step.kind === 'switch') return step.continued ? { how: 'continue', from: plan.lane } : null;
  if (step.resume && end.resumable !== null) {
    const where = { lane: plan.lane, node: plan.node, session: end.resumable };
    const failure = failureOf(end);
    return failure?.class === 'schema'
      ? { how: 'repair', ...where, problems: failure.words.replace(/^the answer does not fit the schema: /, '') }
      : { how: 'resume', ...where };
  }
  // Nothing was done in it, so it may begin once more as it began; after that only the prompt alone is left.
  return beganOf(end) === 'no' ? record.takeUp : null;
}

/** A writer that continues the session of an attempt that may have written. */
export function boundToSession({ access, takeUp }: Pick<DispatchRecord, 'access' | 'takeUp'>): boolean {
  return access === 'write' && takeUp !== null && takeUp.how !== 'continue';
}

/** The same on the lane where it will really run: a session stays where its files are. */
export function takeUpOn(lane: string, takeUp: TakeUp | null, record: Pick<DispatchRecord, 'access'>): TakeUp | null {
  if (takeUp === null || takeUp.how === 'continue' || takeUp.lane === lane) return takeUp;
  return record.access === 'write' ? { how: 'continue', from: takeUp.lane } : null;
}
