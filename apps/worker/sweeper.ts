import { payOldOwed } from '#receipts';
import { keys } from '#store';
import { endWaits } from './end-waits.js';
import type { Resources } from './resources.js';

/** The next look at a waiting record whose ticket is there. */
const LOOK_AGAIN_MS = 60_000;
const PER_PASS = 500;

/**
 * Repairs what a crash left between two steps: a waiting record without a ticket gets one, a dispatch line that is
 * owed is written, and what waited past its time ends. Races with nothing: a ticket too many is stale and costs one reservation.
 */
export async function sweep(resources: Resources): Promise<{ ticketsAdded: number; linesPaid: number }> {
  const { redis, records, tickets, config, clock, log } = resources;
  const now = clock();
  const due = await redis.zrangebyscore(keys.due, '-inf', now, 'LIMIT', 0, PER_PASS);
  let ticketsAdded = 0;
  for (const id of due) {
    const record = await records.read(id);
    if (!record || (record.state !== 'queued' && record.state !== 'retrying')) {
      await redis.zrem(keys.due, id);
      continue;
    }
    if (!(await tickets.exists(record))) {
      await tickets.add([record]);
      ticketsAdded += 1;
      log.warn({ dispatch: id, attempt: record.attempt }, 'a waiting dispatch had no ticket; it has one now');
    }
    // Moved on, so that a deep queue isn't read again on each pass; XX: it may have started meanwhile.
    await redis.zadd(keys.due, 'XX', now + LOOK_AGAIN_MS, id);
  }
  await endWaits(resources);
  const linesPaid = await payOldOwed(resources.outbox, now, config.timing.owedRepairMs);
  return { ticketsAdded, linesPaid };
}
