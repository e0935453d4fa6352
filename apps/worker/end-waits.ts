import { keys } from '#store';
import { move } from './move.js';
import { overdue } from './overdue.js';
import type { Resources } from './resources.js';

const PER_PASS = 500;
/** The next look at one that may wait on: a --max-wait that is over binds only where a window keeps it, ms. */
const LOOK_AGAIN_MS = 30_000;

/** Ends what waited past its --ttl or --deadline. @returns how many */
export async function endWaits(resources: Resources): Promise<number> {
  const { redis, records, clock } = resources;
  const ids = await redis.zrangebyscore(keys.ends, '-inf', clock(), 'LIMIT', 0, PER_PASS);
  let ended = 0;
  for (const id of ids) {
    const record = await records.read(id);
    if (!record || (record.state !== 'queued' && record.state !== 'retrying')) {
      await redis.zrem(keys.ends, id);
      continue;
    }
    const now = clock();
    const next = overdue(record, now);
    if (next) ended += (await move(resources, record, next, next.event)) ? 1 : 0;
    else await redis.zadd(keys.ends, 'XX', nextBound(record, now), id);
  }
  return ended;
}

function nextBound({ startBy, endBy, startedAt }: { startBy: number | null; endBy: number | null; startedAt: number | null }, now: number): number {
  const bounds = [startedAt === null ? startBy : null, endBy].filter((at): at is number => at !== null && at > now);
  return Math.min(now + LOOK_AGAIN_MS, ...bounds);
}
