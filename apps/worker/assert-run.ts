import { isEnded, type DispatchRecord, type LaneConfig } from '#contract';
import type { RunPlan } from '#runner';
import { boundLease } from './bound-lease.js';
import { laneById, type Resources } from './resources.js';

/**
 * Files win about processes: a record that a Redis which came back with less shows as if this attempt had not been
 * started is put back to running. True: it was. A record that is beyond the attempt, has ended, or agrees, stays as it
 * is.
 */
export async function assertRun(
  resources: Resources,
  run: { dispatch: string; attempt: number },
  plan: RunPlan | null,
): Promise<boolean> {
  const { transitions, config, node, records, log } = resources;
  const lane: LaneConfig | undefined = laneById(config, plan?.lane ?? null);
  const record = await records.read(run.dispatch);
  if (!plan || !lane || !record || isEnded(record.state)) return false;
  const answer = await transitions.assertRun({
    id: run.dispatch,
    attempt: run.attempt,
    node,
    lane: lane.id,
    account: lane.account,
    tier: plan.tier,
    cost: resources.costs.costsOf(lane, plan.tier),
    home: record.home,
    ttlMs: boundLease(record, config),
  });
  if (answer === 'asserted')
    log.warn(
      { dispatch: run.dispatch, attempt: run.attempt },
      'Redis had forgotten that this attempt runs; its files say so',
    );
  return answer === 'asserted';
}

/**
 * The record of a run that is over. A Redis that fell back may call it waiting: its end would be told as a stranger's,
 * and another node start it again.
 */
export async function assertedRecord(
  resources: Resources,
  run: { dispatch: string; attempt: number },
  plan: RunPlan,
): Promise<DispatchRecord | null> {
  const record = await resources.records.read(run.dispatch);
  const forgotten =
    record !== null && !runsHere(record, run.attempt, resources.node) && (await assertRun(resources, run, plan));
  return forgotten ? resources.records.read(run.dispatch) : record;
}

export function runsHere({ state, attempt, node }: DispatchRecord, of: number, here: string): boolean {
  return state === 'running' && attempt === of && node === here;
}
