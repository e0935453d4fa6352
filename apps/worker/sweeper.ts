import { isWaiting } from '#contract';
import { payOldOwed } from '#receipts';
import { keys, readStanding, replies, type Standing } from '#store';
import { endWaits } from './end-waits.js';
import type { Resources } from './resources.js';

/** The next look at a waiting record whose ticket is there. */
const LOOK_AGAIN_MS = 60_000;
const PER_PASS = 2_000;

/**
 * Repairs what a crash left between two steps: a waiting record without a ticket gets one, a dispatch line that is owed
 * is written, and what waited past its time ends. Races with nothing: a ticket too many is stale and costs one
 * reservation.
 */
export async function sweep(resources: Resources): Promise<{ ticketsAdded: number; linesPaid: number }> {
  const now = resources.clock();
  const ticketsAdded = await mendTickets(resources, now);
  await endWaits(resources);
  const linesPaid = await payOldOwed(resources.outbox, now, resources.config.timing.owedRepairMs);
  return { ticketsAdded, linesPaid };
}

/** A few round trips, however many are looked at: with 100,000 waiting each comes to its turn within two minutes. */
async function mendTickets({ redis, tickets, log }: Resources, now: number): Promise<number> {
  const ids = await redis.zrangebyscore(keys.due, '-inf', now, 'LIMIT', 0, PER_PASS);
  if (ids.length === 0) return 0;
  const found = await readStanding(redis, ids);
  const waiting = found.filter((one): one is Standing => one !== null && isWaiting(one.state));
  const there = await tickets.existing(waiting);
  const lacking = waiting.filter((_, i) => !there[i]);
  await tickets.add(lacking);
  for (const { id, attempt } of lacking)
    log.warn({ dispatch: id, attempt }, 'a waiting dispatch had no ticket; it has one now');
  const pipeline = redis.pipeline();
  ids.forEach((id, i) => {
    // Moved on, so that a deep queue isn't read again on each pass; XX: it may have started meanwhile. Only what has no
    // record is taken off: anything else may be waiting again by now.
    if (found[i]) pipeline.zadd(keys.due, 'XX', now + LOOK_AGAIN_MS, id);
    else pipeline.zrem(keys.due, id);
  });
  await replies(pipeline);
  return lacking.length;
}
