import type { Redis } from 'ioredis';
import { END_STATES, type Keep } from '#contract';
import { BLOB_KINDS, evaluate, keys, replies, scriptKeys } from '#store';
import { operations } from './lua.js';

const DAY_MS = 86_400_000;
const PER_CALL = 200;

/**
 * Ended records that are kept no longer: those that ended before the days that are kept, and, of more than are kept,
 * those that were submitted first.
 * @param now Redis' time, ms
 * @param dryRun only says which
 */
export async function forgetRecords(
  redis: Redis,
  { days, most }: Keep,
  now: number,
  dryRun: boolean,
): Promise<string[]> {
  const before = now - days * DAY_MS;
  const old = await endedBefore(redis, before);
  const over = most === null ? [] : await firstOf(redis, (await endedCount(redis)) - most);
  if (dryRun) return [...new Set([...old, ...over])];
  const gone = [...(await forgetAll(redis, old, before)), ...(await forgetAll(redis, over, now))];
  return [...new Set(gone)];
}

async function forgetAll(redis: Redis, ids: readonly string[], before: number): Promise<string[]> {
  const gone: string[] = [];
  for (let at = 0; at < ids.length; at += PER_CALL)
    gone.push(...(await forget(redis, ids.slice(at, at + PER_CALL), before)));
  return gone;
}

async function forget(redis: Redis, ids: readonly string[], before: number): Promise<string[]> {
  const reply = await evaluate(redis, operations.forget, [keys.record(ids[0] ?? '')], {
    k: scriptKeys,
    ids,
    before,
    blobs: BLOB_KINDS,
  });
  const gone = JSON.parse(String(reply)) as string[] | Record<string, never>;
  return Array.isArray(gone) ? gone : [];
}

/** The indexes are by submit, which comes before the end: what was submitted later can't have ended by then. */
async function endedBefore(redis: Redis, before: number): Promise<string[]> {
  const pipeline = redis.pipeline();
  for (const state of END_STATES) pipeline.zrangebyscore(keys.state(state), '-inf', before);
  const ids = (await replies(pipeline)).flatMap((reply) => reply as string[]);
  const old: string[] = [];
  for (let at = 0; at < ids.length; at += PER_CALL) {
    const some = ids.slice(at, at + PER_CALL);
    const ends = redis.pipeline();
    for (const id of some) ends.hget(keys.record(id), 'endedAt');
    (await replies(ends)).forEach((endedAt, i) => {
      if (endedAt !== null && Number(endedAt) <= before) old.push(some[i] ?? '');
    });
  }
  return old;
}

async function endedCount(redis: Redis): Promise<number> {
  const pipeline = redis.pipeline();
  for (const state of END_STATES) pipeline.zcard(keys.state(state));
  return (await replies(pipeline)).reduce<number>((sum, size) => sum + Number(size), 0);
}

async function firstOf(redis: Redis, n: number): Promise<string[]> {
  if (n <= 0) return [];
  const pipeline = redis.pipeline();
  for (const state of END_STATES) pipeline.zrange(keys.state(state), '0', String(n - 1), 'WITHSCORES');
  const found = (await replies(pipeline)).flatMap((reply) => {
    const flat = reply as string[];
    return flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: Number(flat[i + 1]) }] : []));
  });
  return found
    .sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1))
    .slice(0, n)
    .map(({ id }) => id);
}
