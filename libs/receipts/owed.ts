import type { Redis } from 'ioredis';
import { isEnded } from '#contract';
import { keys, openRecords } from '#store';
import { appendReceipt } from './append.js';
import { dispatchLine } from './dispatch-line.js';

/** Where the outbox is and where its lines go. */
export type Outbox = { redis: Redis; folder: string };

/**
 * The outbox of dispatch lines. The script that ends a dispatch puts its id into `owed`; whoever ended it writes the
 * line (fsync) and takes the id off. Any worker does so for an id that stayed: two may write, readers drop repeats.
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

/** Ids owed for longer than `olderThanMs`; @param now Redis' or this box's clock: a few seconds either way don't matter */
export async function payOldOwed(outbox: Outbox, now: number, olderThanMs: number): Promise<number> {
  const ids = await outbox.redis.zrangebyscore(keys.owed, '-inf', now - olderThanMs, 'LIMIT', 0, 500);
  for (const id of ids) await payOwed(outbox, id);
  return ids.length;
}
