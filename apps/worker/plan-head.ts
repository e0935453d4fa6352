import type { DispatchRecord, LaneConfig } from '#contract';
import type { RunPlan } from '#runner';

/** What a plan says of its dispatch and its lane; how it is run is added by whoever starts it. */
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
