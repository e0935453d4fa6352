import { errorBody, type RunReading } from '#contract';
import { incomplete } from '#policy';
import type { Next } from '#queue';
import { afterFailure } from './after-failure.js';
import { attemptOf, stepFailureOf, type AttemptFacts, type AttemptOver, type RunEnd } from './attempt-lines.js';
import type { Conclusion } from './conclusion-file.js';
import { ownUsage } from './own-usage.js';
import type { Resources } from './resources.js';

/** What follows an attempt that is over, for its record, its receipt and its lane. Pure but for clock and randomness. */
export function conclude(resources: Pick<Resources, 'config' | 'clock' | 'random'>, attempt: AttemptOver): Conclusion {
  const over = { ...attempt, end: withOwnUsage(attempt) };
  if (over.end.reading.ok) return answered(over, over.end.reading);
  const failure = stepFailureOf(over.end);
  if (failure === null) return concluded(over, cancelled(), 'cancelled');
  const { next, words, close } = afterFailure(resources, over, failure);
  return { ...concluded(over, next, words), close, drift: 'drift' in failure };
}

/** A session that goes on counts what went before, too: of that only what is new is this attempt's. */
function withOwnUsage({ record, attempt: { plan }, end }: AttemptOver): RunEnd {
  const { reading } = end;
  const usage = ownUsage(plan, reading.session ?? plan.session, reading.usage, record.history);
  return { ...end, reading: { ...reading, usage } };
}

function answered(over: AttemptOver, { text, structured }: Extract<RunReading, { ok: true }>): Conclusion {
  return {
    ...concluded(over, { state: 'succeeded', event: 'succeeded', change: {} }, 'answered'),
    success: true,
    result: text,
    structured: structured === undefined ? null : JSON.stringify(structured),
  };
}

function cancelled(): Next {
  return { state: 'cancelled', event: 'cancelled', change: { error: errorBody('CMO_E_CANCELLED') } };
}

/** The attempt in the record's history and in its receipt, `next` in words there, and what it had said so far. */
function concluded({ record, attempt, end }: AttemptOver, next: Next, words: string): Conclusion {
  const { past, receipt } = attemptOf(attempt, end, words);
  const history = [...record.history, past];
  const withHistory = (what: Next): Next => ({ ...what, change: { ...what.change, history } });
  return {
    receipt,
    next: withHistory(next),
    cancelled: withHistory(cancelled()),
    close: null,
    success: false,
    result: null,
    structured: null,
    partial:
      end.reading.ok || end.reading.partial === null
        ? null
        : incomplete(end.reading.partial, receipt.class ?? receipt.outcome),
  };
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
