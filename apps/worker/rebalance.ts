import { isWaiting, thrownMessage, type LaneConfig } from '#contract';
import { keys } from '#store';
import { deciderFor, shutsOut, type Refusal } from './decide-again.js';
import { move } from './move.js';
import type { Resources } from './resources.js';

/** Waiting dispatches looked at per pass. */
const PER_PASS = 500;

export type Rebalanced = {
  /** How many moved or ended. */
  changed: number;
  /**
   * When to look again: somebody may wait no longer then, or another lane opens, ms; Infinity: nothing is known to
   * come.
   */
  soonest: number;
  /** Where in the line the next pass continues; 0: this one reached the end. */
  next: number;
};

/**
 * Decides again for the work that waits in a closed lane, from a place in its line on.
 * @param from the place; what earlier passes left in the line is in front of it
 */
export async function rebalance(
  resources: Resources,
  lane: LaneConfig,
  queue: string,
  refusal: Refusal,
  from = 0,
): Promise<Rebalanced> {
  const { redis, records, clock } = resources;
  const ids = await redis.zrange(keys.line(queue), String(from), String(from + PER_PASS - 1));
  const decideAgain = deciderFor(resources, lane, refusal);
  let [changed, soonest] = [0, await nextOpening(resources, lane)];
  for (const id of ids) {
    const record = await records.read(id);
    if (!record || !isWaiting(record.state) || record.lane !== lane.id) continue;
    if (record.waitUntil !== null && record.waitUntil > clock()) soonest = Math.min(soonest, record.waitUntil);
    const next = await decideAgain(record);
    if (next && (await move(resources, record, next, refusal.reason))) changed += 1;
  }
  return { changed, soonest, next: ids.length < PER_PASS ? 0 : from + ids.length - changed };
}

/** The next reset of a window of another account, or the end of its closing. */
async function nextOpening({ gate, clock }: Resources, lane: LaneConfig): Promise<number> {
  const others = await Promise.all(
    gate
      .accounts()
      .filter((account) => account !== lane.account)
      .map((account) => gate.snapshot(account)),
  );
  const times = others.flatMap(({ windows, closed, pauses }) => [
    closed?.until,
    ...windows.map(({ resetsAt }) => resetsAt),
    ...pauses.map(({ until }) => until),
  ]);
  return Math.min(Infinity, ...times.filter((at): at is number => typeof at === 'number' && at > clock()));
}

/** Waiting work is looked at again at least this often while the lane stays shut: another lane may have opened, ms. */
const LOOK_AGAIN_MS = 30_000;
/** And after this, ms, when another account has news: a reading, a run that ended, the end of a pause. */
const TOLD_MS = 3_000;
/** The most time between a submit's own stamp and its arrival in the line, ms. */
const SUBMIT_MS = 2_000;

/**
 * Rebalances on the first refusal of each kind, when a dispatch's max-wait ends or a new one has come, when another
 * account has news, and now and then while the lane stays shut. Not on every refusal: those come every few seconds, and
 * reading the line each time would cost more than the lane itself.
 */
export function rebalancer(resources: Resources, lane: LaneConfig, queue: string): (refusal: Refusal) => Promise<void> {
  const { wakes, gate } = resources;
  const others = gate.accounts().filter((account) => account !== lane.account);
  /** Changes whenever another account has news. */
  const told = (): string => others.map((account) => wakes.number(account)).join(' ');
  const never = { event: '', at: 0, again: 0, from: 0, told: '' };
  let last = never;
  let busy = false;
  // Decided at its submit by what was known then: it may have come between the closing and the last pass.
  const somebodyCame = async (): Promise<boolean> =>
    (await resources.redis.zcount(keys.line(queue), last.at - SUBMIT_MS, '+inf')) > 0;
  return async (refusal) => {
    if (busy || !shutsOut(refusal)) return;
    busy = true;
    try {
      const now = resources.clock();
      const event = `${refusal.reason}/${refusal.window ?? ''}/${refusal.til ?? ''}/${refusal.bare}`;
      const lookedAt = told();
      const again = lookedAt === last.told ? last.again : Math.min(last.again, last.at + TOLD_MS);
      if (event === last.event && now < again && !(await somebodyCame())) return;
      const from = event === last.event ? last.from : 0;
      last = { event, at: now, again: now + LOOK_AGAIN_MS, from: 0, told: lookedAt };
      const { soonest, next } = await rebalance(resources, lane, queue, refusal, from);
      // A long line is read piece by piece, one for each refusal: the lane itself must not wait for it.
      last = { ...last, from: next, again: next > 0 ? 0 : Math.min(last.again, soonest) };
    } catch (error) {
      last = never;
      resources.log.warn(
        { lane: lane.id, error: thrownMessage(error) },
        'moving waiting work failed; it is tried again',
      );
    } finally {
      busy = false;
    }
  };
}
