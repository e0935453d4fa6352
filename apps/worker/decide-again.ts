import { policyConfig, type DispatchRecord, type LaneConfig, type LanesFacts } from '#contract';
import type { Admission } from '#gate';
import { confirm, decide } from '#policy';
import type { Next } from '#queue';
import { installedLanes } from './confirm-lane.js';
import { lanesOut } from './left-lanes.js';
import { placement, rerouted } from './placement.js';
import { environmentHere } from './environment.js';
import { laneById, type Resources } from './resources.js';
import { boundToSession } from './take-up.js';
import { taskOfRecord } from './task-of.js';

export type Refusal = Extract<Admission, { ok: false }>;

/**
 * Whether a refusal shuts the lane for its waiting work: the vendor refused, the lane is paused, or a window is full
 * with nothing in flight that could give points back. A lane that is merely busy (slots, dark bound) is not shut.
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

/**
 * After a limit or a lapsed login another lane may carry on what an agent has begun to write; after anything else only
 * its own session.
 */
function mayCarryOn({ reason, window }: Refusal): boolean {
  if (reason === 'closed') return ['usage_limit', 'rate_limit', 'auth', 'overloaded'].includes(window ?? '');
  return reason === 'limit' || reason === 'hold-back';
}

/** Decides again for one after the other of the dispatches that wait in a lane that is shut. */
export type DecideAgain = (record: DispatchRecord) => Promise<Next | null>;

/**
 * What a dispatch that waits in a shut lane comes to: it moves to another lane, ends as deferred where it may wait no
 * longer, or (null) stays in its line until the window opens. A better score alone moves nothing; nor does it move what
 * was pinned to its lane, or must be graded by another vendor whatever that costs.
 */
export function deciderFor(resources: Resources, lane: LaneConfig, refusal: Refusal): DecideAgain {
  const { config, gate, clock } = resources;
  const policy = policyConfig(config);
  const facts = new Map<string, LanesFacts>();
  return async (record) => {
    if (boundToSession(record) && !mayCarryOn(refusal)) return null;
    const { failover, pin, strictIndependence } = record.request;
    const fixed = failover === false || pin !== undefined || strictIndependence === true;
    const path = (await environmentHere(resources, record))['PATH'] ?? '';
    const lanes =
      facts.get(path) ?? shut(await gate.facts(config.lanes, installedLanes(resources, path)), lane, refusal);
    facts.set(path, lanes);
    const task = {
      ...taskOfRecord(record, { lanesOut: await lanesOut(resources, record) }),
      ...(fixed ? { pin: lane.id } : {}),
    };
    if (confirm(record.decision, task, lanes, policy).kind === 'keep') return null;
    const decision = decide(task, lanes, policy);
    const moves = decision.ok && decision.lane !== lane.id;
    const waits = record.waitUntil === null || record.waitUntil > clock();
    if (!moves && (decision.ok || waits) && laneById(config, record.lane)) return null;
    const next = placement({ record, decision, event: 'rerouted', config, now: clock() });
    return rerouted(next, record, {
      from: lane.id,
      why: refusal.reason === 'paused' ? 'paused' : (refusal.window ?? refusal.reason),
      event: refusal.event,
    });
  };
}

/** The gate's word about this lane outranks what its picture alone would say. */
function shut(facts: LanesFacts, lane: LaneConfig, refusal: Refusal): LanesFacts {
  const own = facts[lane.id] ?? { available: false };
  if (own.hardBlocked) return facts;
  const nextResetAt = refusal.til === null ? (own.nextResetAt ?? null) : new Date(refusal.til).toISOString();
  return {
    ...facts,
    [lane.id]: {
      ...own,
      hardBlocked: true,
      blockedBy: refusal.reason === 'closed' ? (refusal.window ?? 'closed') : refusal.reason,
      nextResetAt,
    },
  };
}
