import type { DispatchReceipt, DispatchRecord, EndState } from '#contract';

/** The one line that a dispatch leaves when it ends (pure): which attempt answered, and what it came to. */
export function dispatchLine(record: DispatchRecord, state: EndState): DispatchReceipt {
  const { decision, history, request } = record;
  const last = history.at(-1);
  const answered = state === 'succeeded' ? history.findLast((past) => past.outcome === 'ok') : undefined;
  const shown = answered ?? last;
  const failures = history.flatMap((past) => (past.class === null ? [] : [past.class]));
  const endedAt = record.endedAt ?? record.submittedAt;
  return {
    kind: 'dispatch',
    schema: 'cmo.receipt/1',
    id: record.id,
    at: new Date(endedAt).toISOString(),
    ok: state === 'succeeded',
    state,
    provider: shown?.lane ?? null,
    lane: shown?.lane ?? null,
    vendor: shown?.vendor ?? null,
    model: shown?.model ?? null,
    tier: shown?.tier ?? decision.tier,
    role: decision.factors.role,
    weight: decision.weight,
    complexity: decision.factors.complexity,
    length: decision.factors.length,
    independence: decision.independence,
    degradedReview: decision.ok && decision.degradedReview,
    failedOver: history.some((past) => past.lane !== history[0]?.lane),
    attempts: history.length,
    attemptIds: history.map((past) => `${record.id}.${past.attempt}`),
    answeredBy: answered ? `${record.id}.${answered.attempt}` : null,
    retried: history.length > 1,
    failures,
    durationMs: Math.max(endedAt - record.submittedAt, 0),
    tokens: shown?.usage ? { in: shown.usage.inputTokens, out: shown.usage.outputTokens } : null,
    node: shown?.node ?? record.node,
    project: record.project,
    batch: request.batch ?? null,
    needsLook: record.needsLook,
    error: record.error === null ? null : `${record.error.code}: ${record.error.message}`.slice(0, 500),
    notes: decision.notes,
    decision,
  };
}
