import type { Redis } from 'ioredis';
import { isEnded } from '#contract';
import { keys, openRecords } from '#store';
import { appendReceipt, appendReceipts } from './append.js';
import { dispatchLine } from './dispatch-line.js';

/** Where the outbox is and where its lines go. */
export type Outbox = { redis: Redis; folder: string };

/**
 * The outbox of dispatch lines. The script that ends a dispatch puts its id into `owed`; the worker that ended it writes
 * the line (fsync) and takes the id off. Any worker does so for an id that stayed: two may write, readers drop repeats.
 * @returns false: the record has not ended, or is gone; nothing was written and the id is off the list
 */
export async function payOwed({ redis, folder }: Outbox, id: string): Promise<boolean> {
  const record = await openRecords(redis).read(id);
  const state = record?.state;
  const ended = record !== null && state !== undefined && isEnded(state);
  if (ended) await appendReceipt(folder, dispatchLine(record, state));
  await redis.zrem(keys.owed, id);
  return ended;
}

/** The same for many: one write and one sync for each month's file. */
export async function payAllOwed({ redis, folder }: Outbox, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += PER_WRITE) {
    const some = ids.slice(at, at + PER_WRITE);
    const records = await openRecords(redis).readMany(some);
    await appendReceipts(
      folder,
      records.flatMap((record) => (isEnded(record.state) ? [dispatchLine(record, record.state)] : [])),
    );
    await redis.zrem(keys.owed, ...some);
  }
}

/** Lines of one write: it has to be whole, and to fit into memory beside everything else. */
const PER_WRITE = 500;

/**
 * Ids owed for longer than `olderThanMs`; @param now Redis' or this box's clock: a few seconds either way don't matter
 */
export async function payOldOwed(outbox: Outbox, now: number, olderThanMs: number): Promise<number> {
  const ids = await outbox.redis.zrangebyscore(keys.owed, '-inf', now - olderThanMs, 'LIMIT', 0, 500);
  if (ids.length > 0) await payAllOwed(outbox, ids);
  return ids.length;
}
