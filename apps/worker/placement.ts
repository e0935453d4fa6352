import { policyConfig, type Config, type Decision, type DispatchRecord, type TakeUp } from '#contract';
import { laneCost, type WindowEvent } from '#gate';
import { deferral, waitingLane } from '#policy';
import { MOVED_NOTE } from '#policy/replay';
import type { Next } from '#queue';
import { leaving } from './left-lanes.js';
import { laneById } from './resources.js';
import { takeUpOn } from './take-up.js';

export type Placing = {
  record: DispatchRecord;
  decision: Decision;
  /** What its history calls it when it is queued again. */
  event: string;
  /** How it would begin where it was; absent: as its record says. */
  takeUp?: TakeUp | null;
  config: Config;
  /** ms. */
  now: number;
};

/**
 * Where a decision puts a dispatch (pure): on its lane, as its next attempt; or, deferred, in the line where its window
 * opens first; or, when it may wait no longer or no lane has a CLI, at its end.
 */
export function placement({ record, decision, event, takeUp = record.takeUp, config, now }: Placing): Next {
  const laneId = decision.ok ? decision.lane : waitingLane(decision, policyConfig(config));
  const lane = laneById(config, laneId);
  const mayWait = decision.ok || record.waitUntil === null || record.waitUntil > now;
  if (lane && mayWait) {
    return {
      state: 'queued',
      event,
      change: {
        attempt: record.attempt + 1,
        lane: lane.id,
        account: lane.account,
        tier: decision.tier,
        cost: laneCost(lane),
        notBefore: notYet(record, now),
        decision,
        takeUp: takeUpOn(lane.id, takeUp, record),
      },
    };
  }
  return { state: 'deferred', event: 'deferred', change: { decision, error: deferral(decision) } };
}

/**
 * Why a dispatch leaves its lane, and for which event of a window, where it was one. `closing`: the one that its own
 * delivery makes.
 */
export type Leaving = { from: string; why: string; event: WindowEvent | 'closing' | null };

/** The same next state, with the move noted in its decision and the lane kept out as long as the event is on. */
export function rerouted(next: Next, record: DispatchRecord, { from, why, event }: Leaving): Next {
  const { decision, lane } = next.change;
  if (decision === undefined) return next;
  const before = record.decision.notes.filter((note) => note.startsWith(MOVED_NOTE));
  if (lane === undefined || lane === from)
    return { ...next, change: { ...next.change, decision: { ...decision, notes: [...decision.notes, ...before] } } };
  const change = {
    ...next.change,
    decision: { ...decision, notes: [...decision.notes, ...before, `${MOVED_NOTE}${from}:${why}`] },
  };
  if (event === 'closing') return { ...next, change, leaves: from };
  return { ...next, change: { ...change, left: leaving(record.left, from, event) } };
}

/** A person's --not-before holds on every lane; a back-off is over with the lane it was for. */
function notYet({ startedAt, notBefore }: DispatchRecord, now: number): number | null {
  return startedAt === null && notBefore !== null && notBefore > now ? notBefore : null;
}
