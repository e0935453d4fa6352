import { isWaiting, type DispatchRecord } from '#contract';
import type { Next } from '#queue';
import { keys } from '#store';
import { deciderFor, shutsOut } from './decide-again.js';
import { move } from './move.js';
import { overdue } from './overdue.js';
import { laneById, type Resources } from './resources.js';

const PER_PASS = 500;
/** The next look at one that waits on past its --max-wait, since no window keeps it now, ms. */
const LOOK_AGAIN_MS = 5_000;

/** Ends what waited past its --ttl or --deadline, or for a window past its --max-wait. @returns how many */
export async function endWaits(resources: Resources): Promise<number> {
  const { redis, records, clock } = resources;
  const ids = await redis.zrangebyscore(keys.ends, '-inf', clock(), 'LIMIT', 0, PER_PASS);
  let ended = 0;
  for (const id of ids) {
    const record = await records.read(id);
    if (!record || !isWaiting(record.state)) {
      await redis.zrem(keys.ends, id);
      continue;
    }
    const now = clock();
    const next = overdue(record, now) ?? (await waitedOut(resources, record, now));
    if (next) ended += (await move(resources, record, next, next.event)) ? 1 : 0;
    else await redis.zadd(keys.ends, 'XX', nextBound(record, now), id);
  }
  return ended;
}

/**
 * Slots are always waited for: a --max-wait that is over ends only what the lane's window keeps, and only where no
 * other lane takes it.
 */
async function waitedOut(resources: Resources, record: DispatchRecord, now: number): Promise<Next | null> {
  const lane = laneById(resources.config, record.lane);
  if (record.waitUntil === null || record.waitUntil > now || !lane || (record.notBefore ?? 0) > now) return null;
  const refusal = await resources.gate.look(lane, record.cost, record.class, record.home);
  return refusal.ok || !shutsOut(refusal) ? null : deciderFor(resources, lane, refusal)(record);
}

function nextBound(
  { startBy, endBy, startedAt }: { startBy: number | null; endBy: number | null; startedAt: number | null },
  now: number,
): number {
  const bounds = [startedAt === null ? startBy : null, endBy].filter((at): at is number => at !== null && at > now);
  return Math.min(now + LOOK_AGAIN_MS, ...bounds);
}
