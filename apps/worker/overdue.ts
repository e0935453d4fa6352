import { errorBody, isEnded, type DispatchRecord } from '#contract';
import type { Next } from '#queue';
import { beganBefore } from './take-up.js';

/** The end of a dispatch whose time is over while it waits (pure); null: it may go on waiting. */
export function overdue(record: DispatchRecord, now: number): Next | null {
  if (record.endBy !== null && record.endBy <= now) return pastDeadline(record, record.endBy);
  if (record.startBy === null || record.startedAt !== null || record.startBy > now) return null;
  const error = errorBody('CMO_E_EXPIRED', `it was not started by ${new Date(record.startBy).toISOString()}`);
  return { state: 'expired', event: 'expired', change: { error } };
}

/** What follows an attempt, held to the dispatch's own end: nothing is queued again that could only end there. */
export function withinDeadline(next: Next, record: DispatchRecord, timedOut: boolean, now: number): Next {
  const { endBy } = record;
  if (endBy === null) return next;
  const again = !isEnded(next.state);
  const from = Math.max(now, (again ? next.change.notBefore : null) ?? now);
  if (endBy > from || !(again || timedOut)) return next;
  const ended = pastDeadline(record, endBy);
  return {
    ...ended,
    change: { ...ended.change, needsLook: (next.change.needsLook ?? false) || (ended.change.needsLook ?? false) },
  };
}

/** The attempt's own wall clock, cut to what is left of the dispatch, ms. */
export function wallClock(timeoutMs: number, { endBy }: Pick<DispatchRecord, 'endBy'>, now: number): number {
  return endBy === null ? timeoutMs : Math.max(Math.min(timeoutMs, Math.ceil(endBy - now)), 1);
}

function pastDeadline(record: DispatchRecord, endBy: number): Next {
  const error = errorBody('CMO_E_TIMED_OUT', `its --deadline passed: ${new Date(endBy).toISOString()}`, {
    fix: 'give it more with a later --deadline',
  });
  return {
    state: 'timed_out',
    event: 'timed-out',
    change: { error, needsLook: record.access === 'write' && beganBefore(record) },
  };
}
