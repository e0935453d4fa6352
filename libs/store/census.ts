import { STATES, type BatchStatus, type Census } from '#contract';
import type { Redis } from 'ioredis';
import { keys } from './keys.js';
import { replies } from './pipeline.js';

/** Null: nothing was ever submitted under this name, or all of it is forgotten. */
export async function readCensus(redis: Redis, batch: string): Promise<BatchStatus | null> {
  const [fields, last] = await replies(redis.pipeline().hgetall(keys.census(batch)).zscore(keys.batches, batch));
  return statusOf(batch, fields as Record<string, string>, Number(last ?? 0));
}

/** The one last submitted to first. */
export async function listCensuses(redis: Redis, limit: number): Promise<BatchStatus[]> {
  const names = await redis.zrevrange(keys.batches, 0, limit - 1, 'WITHSCORES');
  const pipeline = redis.pipeline();
  for (let i = 0; i < names.length; i += 2) pipeline.hgetall(keys.census(names[i] ?? ''));
  return (await replies(pipeline)).flatMap(
    (fields, i) => statusOf(names[2 * i] ?? '', fields as Record<string, string>, Number(names[2 * i + 1])) ?? [],
  );
}

function statusOf(batch: string, fields: Record<string, string>, lastAt: number): BatchStatus | null {
  const number = (name: string): number => Number(fields[name] ?? 0);
  if (number('total') === 0) return null;
  const census = Object.fromEntries([
    ['total', number('total')],
    ...STATES.map((state) => [state, number(`n:${state}`)]),
  ]) as Census;
  const replaced = Object.fromEntries(
    STATES.flatMap((state) => (number(`r:${state}`) > 0 ? [[state, number(`r:${state}`)]] : [])),
  );
  return { batch, census, replaced, firstAt: number('at'), lastAt };
}
