import { errorOf } from './envelope.js';
import { shownProgress, type DispatchRecord, type DispatchRow } from '#contract';
import type { Waiting } from './waiting.js';

/** A record as one line of a listing. */
export function rowOf(record: DispatchRecord, waiting: Waiting | null, now: number): DispatchRow {
  const last = record.history.at(-1);
  const chosen = record.decision.ok ? record.decision : null;
  const error = errorOf(record);
  return {
    id: record.id,
    state: record.state,
    lane: record.lane,
    vendor: record.decision.candidates.find(({ lane }) => lane === record.lane)?.vendor ?? last?.vendor ?? null,
    model: chosen?.lane === record.lane ? (chosen?.model ?? null) : (last?.model ?? null),
    tier: record.tier,
    role: record.decision.factors.role,
    class: record.class,
    project: record.project,
    batch: record.request.batch ?? null,
    node: record.node,
    attempts: record.state === 'running' ? record.history.length + 1 : record.history.length,
    submittedAt: iso(record.submittedAt),
    startedAt: record.startedAt === null ? null : iso(record.startedAt),
    endedAt: record.endedAt === null ? null : iso(record.endedAt),
    waiting,
    cancelAsked: record.cancelAsked,
    needsLook: record.needsLook,
    independence: record.decision.independence,
    degradedReview: record.decision.ok && record.decision.degradedReview,
    progress: record.progress ? shownProgress(record.progress, now) : null,
    error: error === null ? null : `${error.code} ${error.message}`.slice(0, 200),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
