import type { DispatchRecord, LaneConfig } from '#contract';
import { appendReceipt } from '#receipts';
import type { RunPlan } from '#runner';
import { keys, redisOffset } from '#store';
import type { AttemptFacts, RunEnd } from './attempt-lines.js';
import { conclude } from './conclusion.js';
import { payWhatIsOwed } from './owed-after.js';
import { installedLanes } from './confirm-lane.js';
import { lanesOut } from './left-lanes.js';
import { planHead } from './plan-head.js';
import { environmentHere } from './environment.js';
import { laneById, type Resources } from './resources.js';

/**
 * A node is here as long as its worker says so, and by its lease. One that has said nothing for `lostAfterMs` is taken
 * for gone with what ran on it: its attempts are `lost`, their points settle, and what any node may do begins again
 * elsewhere. A dispatch that has a folder belongs to the box that has it: it waits for that, or, where it may have
 * written, for a look. Should the node come back, what it brings of a lost attempt is evidence (`fenced`), never the
 * answer.
 */
export async function tellOfNode({ redis, node, clock }: Resources): Promise<void> {
  await redis.zadd(keys.nodes, clock() + (await redisOffset(redis, clock)), node);
}

/** @returns how many attempts were told as lost */
export async function loseNodes(resources: Resources): Promise<number> {
  const { redis, node, config, clock, log } = resources;
  const now = clock() + (await redisOffset(redis, clock));
  const silent = (await redis.zrangebyscore(keys.nodes, '-inf', now - config.timing.lostAfterMs)).filter(
    (other) => other !== node,
  );
  let lost = 0;
  for (const other of silent) {
    if ((await redis.exists(keys.node(other))) === 1) continue;
    const ids = await redis.smembers(keys.running(other));
    for (const id of ids) lost += (await loseRun(resources, id, other)) ? 1 : 0;
    // It adds itself again when it comes back; until then there is nothing to look for.
    if (ids.length === 0) await redis.zrem(keys.nodes, other);
    else log.warn({ node: other, attempts: ids.length }, 'a node is taken for gone: what ran there is lost');
  }
  return lost;
}

async function loseRun(resources: Resources, id: string, node: string): Promise<boolean> {
  const { records, transitions, config, gate, folders, clock } = resources;
  const record = await records.read(id);
  const lane = laneById(config, record?.lane ?? null);
  if (record?.state !== 'running' || record.node !== node || !lane || !record.decision.ok) return false;
  const end = lostEnd(record, node, clock());
  const attempt: AttemptFacts = { plan: planOf(record, lane, node), adopted: false, fenced: false };
  const path = (await environmentHere(resources, record))['PATH'] ?? '';
  const facts = await gate.facts(config.lanes, installedLanes(resources, path));
  const out = await lanesOut(resources, record);
  const conclusion = conclude(resources, { record, lane, attempt, end, facts, out });
  // The line first: after a crash in between it is written again, and readers drop the repeat.
  await appendReceipt(folders.receipts, conclusion.receipt);
  const answer = await transitions.deliver({
    record,
    attempt: record.attempt,
    account: lane.account,
    node,
    receipt: JSON.stringify(conclusion.receipt),
    next: conclusion.next,
    cancelled: conclusion.cancelled,
    close: null,
    success: false,
  });
  await payWhatIsOwed(resources, id);
  return answer.answer === 'delivered';
}

/** This node did not see how it ended, or whether it has. */
function lostEnd(record: DispatchRecord, node: string, now: number): RunEnd {
  const failure = { class: 'killed' as const, words: `node ${node} is gone` };
  return {
    reading: {
      ok: false,
      failure,
      partial: null,
      usage: null,
      began: 'unknown',
      session: record.progress?.session ?? null,
      toolCalls: 0,
    },
    interrupted: true,
    lost: true,
    cancelled: false,
    exitCode: null,
    signal: null,
    startedAt: record.startedAt ?? record.submittedAt,
    endedAt: now,
    resumable: null,
    cliVersion: null,
    notes: [`lost-with:${node}`],
  };
}

/** As far as its record tells: the plan itself lies on the node. */
function planOf(record: DispatchRecord, lane: LaneConfig, node: string): RunPlan {
  const { decision } = record;
  const offer = decision.ok ? { model: decision.model, effort: decision.effort } : { model: '', effort: null };
  return {
    ...planHead(record, lane, node),
    ...offer,
    tier: record.tier ?? decision.tier,
    argv: [],
    cwd: record.request.cwd,
    deadlineMs: 1,
    graceMs: 1,
    silenceMs: 1,
    envNames: [],
    session: null,
    resumed: false,
    cliVersion: null,
    endpoint: null,
  };
}
