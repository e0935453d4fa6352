import {
  ERRORS,
  errorBody,
  isEnded,
  shownProgress,
  type DispatchRecord,
  type Envelope,
  type ErrorBody,
  type PastAttempt,
  type ReceiptLine,
} from '#contract';
import type { StoredText } from '#store';

export type EnvelopeParts = {
  record: DispatchRecord;
  /** The answer's text; only of a dispatch that succeeded. */
  result: StoredText | null;
  /** What a run that died had said; never the answer. */
  partial: string | null;
  receipts: ReceiptLine[];
  waiting: NonNullable<Envelope['waiting']> | null;
  /** Milliseconds since the epoch. */
  now: number;
};

/**
 * What a front door prints of a dispatch, whatever its state: the record, its blobs and its receipts in, one flat
 * object out.
 */
export function envelopeOf({ record, result, partial, receipts, waiting, now }: EnvelopeParts): Envelope {
  const { decision, request } = record;
  // Of an ended dispatch, the attempt that answered or failed last; of a live one, the lane it waits for or runs on.
  const last = isEnded(record.state) ? record.history.at(-1) : undefined;
  const chosen = decision.ok && decision.lane === record.lane ? decision : undefined;
  const lane = last?.lane ?? record.lane;
  const error = errorOf(record);
  const succeeded = record.state === 'succeeded';

  const envelope: Envelope = {
    schema: 'cmo.envelope/1',
    ok: succeeded,
    dispatchId: record.id,
    state: record.state,
    batch: request.batch ?? null,
    provider: lane,
    lane,
    vendor: last?.vendor ?? chosen?.vendor ?? vendorOf(record),
    model: last?.model ?? chosen?.model ?? null,
    tier: last?.tier ?? record.tier,
    effort: last ? last.effort : (chosen?.effort ?? null),
    failedOver: lanesUsed(record) > 1,
    attempts: record.history.map(attemptOf),
    durationMs: Math.max(0, (record.endedAt ?? now) - record.submittedAt),
    usage: last?.usage ?? null,
    result: succeeded ? (result?.text ?? null) : null,
    resultJson:
      succeeded && request.hasSchema && result !== null && result.cut === null ? parseJson(result.text) : null,
    decision: { weight: decision.weight, tier: decision.tier, reason: decision.reason, notes: decision.notes },
    receipts,
  };
  if (decision.independence !== null) envelope.independence = decision.independence;
  if (decision.ok && decision.degradedReview) envelope.degradedReview = true;
  const file = succeeded ? (result?.cut ?? result?.file) : null;
  if (file) envelope.resultFile = { node: file.node, file: file.file, bytes: file.bytes, cut: result?.cut !== null };
  if (!succeeded && partial !== null) envelope.partial = partial;
  if (record.needsLook) envelope.needsLook = true;
  if (record.cancelAsked) envelope.cancelAsked = true;
  if (request.retryOf !== undefined) envelope.retryOf = request.retryOf;
  if (record.retriedBy !== null) envelope.retriedBy = record.retriedBy;
  if (record.state === 'deferred') {
    envelope.deferred = true;
    envelope.resumeAfter = error?.retryAfter ?? (decision.ok ? null : decision.resumeAfter);
  }
  if (record.progress) envelope.progress = shownProgress(record.progress, now);
  if (request.warnings && request.warnings.length > 0) envelope.warnings = request.warnings;
  if (waiting) envelope.waiting = waiting;
  if (error) envelope.error = error;
  return envelope;
}

/** The code that says why it ended without an answer; the record's own error is closer to the cause than its state. */
export function errorOf(record: DispatchRecord): ErrorBody | null {
  if (record.error) return record.error;
  if (record.needsLook) return errorBody('CMO_E_NEEDS_LOOK');
  switch (record.state) {
    case 'queued':
    case 'running':
    case 'retrying':
    case 'succeeded':
      return null;
    case 'failed':
      return errorBody('CMO_E_FAILED', wordsOf(record.history.at(-1)));
    case 'timed_out':
      return errorBody('CMO_E_TIMED_OUT');
    case 'cancelled':
      return errorBody('CMO_E_CANCELLED');
    case 'deferred':
      return errorBody('CMO_E_DEFERRED');
    case 'expired':
      return errorBody('CMO_E_EXPIRED');
  }
}

function wordsOf(attempt: PastAttempt | undefined): string {
  return attempt?.words ? `the agent failed: ${attempt.words}` : ERRORS.CMO_E_FAILED.message;
}

function attemptOf(attempt: PastAttempt): Envelope['attempts'][number] {
  return {
    ...attempt,
    provider: attempt.lane,
    failure: attempt.class,
    timedOut: attempt.outcome === 'timed_out' || attempt.class === 'timeout',
  };
}

/** The decision knows every lane of the day it was made. */
function vendorOf(record: DispatchRecord): string | null {
  return record.decision.candidates.find((candidate) => candidate.lane === record.lane)?.vendor ?? null;
}

function lanesUsed(record: DispatchRecord): number {
  const lanes = new Set(record.history.map((attempt) => attempt.lane));
  if (!isEnded(record.state) && record.lane !== null) lanes.add(record.lane);
  return lanes.size;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
