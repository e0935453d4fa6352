import { policyConfig, type LaneConfig, type LanesFacts } from '#contract';
import type { Admission } from '#gate';
import { confirm, decide } from '#policy';
import { keys } from '#store';
import { installedLanes } from './confirm-lane.js';
import { move } from './move.js';
import { placement } from './placement.js';
import { submittedEnvironment } from './prepare-run.js';
import { laneById, type Resources } from './resources.js';
import { boundToSession } from './take-up.js';
import { taskOfRecord } from './task-of.js';

type Refusal = Extract<Admission, { ok: false }>;

/** Waiting dispatches looked at per pass. */
const PER_PASS = 500;

/**
 * Whether a refusal shuts the lane for its waiting work: a refusal of the vendor, a pause, or a window that is full with
 * nothing in flight that could give points back. A busy lane (slots, dark bound) shuts nobody out.
 */
export function shutsOut(refusal: Refusal): boolean {
  switch (refusal.reason) {
    case 'closed':
    case 'paused':
      return true;
    case 'limit':
    case 'hold-back':
      return refusal.bare && refusal.window !== null;
    case 'slots':
    case 'lane-slots':
    case 'dark':
    case 'canary':
    case 'drained':
    case 'restart':
      return false;
  }
}

/** After a limit or a lapsed login another lane may carry on what an agent has begun to write; after anything else only its own session. */
function mayCarryOn({ reason, window }: Refusal): boolean {
  if (reason === 'closed') return ['usage_limit', 'rate_limit', 'auth', 'overloaded'].includes(window ?? '');
  return reason === 'limit' || reason === 'hold-back';
}

export type Rebalanced = {
  /** How many moved or ended. */
  changed: number;
  /** When the first of those that may wait some time still may wait no longer, ms; Infinity: none is bound. */
  soonest: number;
};

/**
 * Decides again for the work that waits in a lane that has closed: it moves to another lane, ends as deferred where it
 * may wait no longer, or stays in the line until the window opens. A better score alone moves nothing.
 */
export async function rebalance(resources: Resources, lane: LaneConfig, queue: string, refusal: Refusal): Promise<Rebalanced> {
  const { redis, records, config, gate, clock } = resources;
  const ids = await redis.zrange(keys.line(queue), 0, String(PER_PASS - 1));
  const policy = policyConfig(config);
  const facts = new Map<string, LanesFacts>();
  let [changed, soonest] = [0, Infinity];
  for (const id of ids) {
    const record = await records.read(id);
    if (!record || (record.state !== 'queued' && record.state !== 'retrying') || record.lane !== lane.id) continue;
    if (record.waitUntil !== null && record.waitUntil > clock()) soonest = Math.min(soonest, record.waitUntil);
    if (boundToSession(record) && !mayCarryOn(refusal)) continue;
    const fixed = record.request.failover === false;
    const path = (await submittedEnvironment(resources, id))['PATH'] ?? '';
    const lanes = facts.get(path) ?? shut(await gate.facts(config.lanes, installedLanes(resources, path)), lane, refusal);
    facts.set(path, lanes);
    const task = { ...taskOfRecord(record), ...(fixed ? { pin: lane.id } : {}) };
    if (confirm(record.decision, task, lanes, policy).kind === 'keep') continue;
    const decision = decide(task, lanes, policy);
    const moves = decision.ok && decision.lane !== lane.id;
    const waits = record.waitUntil === null || record.waitUntil > clock();
    if (!moves && (decision.ok || waits) && laneById(config, record.lane)) continue;
    const next = placement(record, decision, record.attempt + 1, config, clock(), 'rerouted');
    if (await move(resources, record, next, refusal.reason)) changed += 1;
  }
  return { changed, soonest };
}

/** Waiting work is looked at again at least this often while the lane stays shut: another lane may have opened, ms. */
const LOOK_AGAIN_MS = 30_000;
/** From the time that a submit bears until it stands in its line, ms. */
const SUBMIT_MS = 2_000;

/**
 * Rebalances on the first refusal of each kind, when somebody's waiting ends or somebody came since, and now and then while it
 * lasts: a shut lane is refused every few seconds, and reading its line each time would cost more than the lane itself.
 */
export function rebalancer(resources: Resources, lane: LaneConfig, queue: string): (refusal: Refusal) => Promise<void> {
  const never = { event: '', at: 0, again: 0 };
  let last = never;
  let busy = false;
  // Decided at its submit by what was known then: it may have come between the closing and the last pass.
  const somebodyCame = async (): Promise<boolean> => (await resources.redis.zcount(keys.line(queue), last.at - SUBMIT_MS, '+inf')) > 0;
  return async (refusal) => {
    if (busy || !shutsOut(refusal)) return;
    busy = true;
    try {
      const now = resources.clock();
      const event = `${refusal.reason}/${refusal.window ?? ''}/${refusal.til ?? ''}/${refusal.bare}`;
      if (event === last.event && now < last.again && !(await somebodyCame())) return;
      last = { event, at: now, again: now + LOOK_AGAIN_MS };
      const { soonest } = await rebalance(resources, lane, queue, refusal);
      last = { ...last, again: Math.min(last.again, soonest) };
    } catch (error) {
      last = never;
      resources.log.warn({ lane: lane.id, error: error instanceof Error ? error.message : String(error) }, 'moving waiting work failed; it is tried again');
    } finally {
      busy = false;
    }
  };
}

/** The gate's word about this lane outranks what its picture alone would say. */
function shut(facts: LanesFacts, lane: LaneConfig, refusal: Refusal): LanesFacts {
  const own = facts[lane.id] ?? { available: false };
  if (own.hardBlocked) return facts;
  const nextResetAt = refusal.til === null ? (own.nextResetAt ?? null) : new Date(refusal.til).toISOString();
  return { ...facts, [lane.id]: { ...own, hardBlocked: true, blockedBy: refusal.reason === 'closed' ? (refusal.window ?? 'closed') : refusal.reason, nextResetAt } };
}
