import { isEnded } from '#contract';
import { appendReceipt } from '#receipts';
import { keys } from '#store';
import { dispatchLine } from './dispatch-line.js';
import type { Resources } from './resources.js';

/**
 * The outbox of dispatch lines. The script that ends a dispatch puts its id into `owed`; whoever ended it writes the
 * line (fsync) and takes the id off. Any worker does so for an id that stayed: two may write, readers drop repeats.
 */
export async function payOwed({ redis, records, folders, log }: Pick<Resources, 'redis' | 'records' | 'folders' | 'log'>, id: string): Promise<void> {
  const record = await records.read(id);
  if (record && isEnded(record.state)) {
    await appendReceipt(folders.receipts, dispatchLine(record, record.state));
  } else {
    log.warn({ dispatch: id }, 'a dispatch line is owed for a record that has not ended or is gone');
  }
  await redis.zrem(keys.owed, id);
}

/** Ids owed for longer than `olderThanMs`; @param now Redis' or this box's clock: a few seconds either way don't matter */
export async function payOldOwed(resources: Pick<Resources, 'redis' | 'records' | 'folders' | 'log'>, now: number, olderThanMs: number): Promise<number> {
  const ids = await resources.redis.zrangebyscore(keys.owed, '-inf', now - olderThanMs, 'LIMIT', 0, 500);
  for (const id of ids) await payOwed(resources, id);
  return ids.length;
}
