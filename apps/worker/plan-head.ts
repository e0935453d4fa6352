import type { DispatchRecord, LaneConfig } from '#contract';
import type { RunPlan } from '#runner';

/** The part of a run plan that describes its dispatch and lane; the caller adds how it is run. */
export function planHead(record: DispatchRecord, lane: LaneConfig, node: string) {
  return {
    schema: 1,
    dispatch: record.id,
    attempt: record.attempt,
    node,
    lane: lane.id,
    account: lane.account,
    vendor: lane.vendor,
    kind: lane.kind,
    access: record.access,
    project: record.project,
    batch: record.request.batch ?? null,
  } as const satisfies Partial<RunPlan>;
}
