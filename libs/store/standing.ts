import type { DispatchRecord, State } from '#contract';
import type { Redis } from 'ioredis';
import { keys } from './keys.js';
import { replies } from './pipeline.js';

/**
 * What the order of starts needs of a record; a deep queue is looked through often, and its documents are the most of
 * it.
 */
export type Standing = Pick<DispatchRecord, 'id' | 'state' | 'attempt' | 'lane' | 'home' | 'tag' | 'notBefore'>;

/** Null: no such record. */
export async function readStanding(redis: Redis, ids: readonly string[]): Promise<(Standing | null)[]> {
  const pipeline = redis.pipeline();
  for (const id of ids) pipeline.hmget(keys.record(id), 'state', 'attempt', 'lane', 'home', 'tag', 'notBefore');
  return (await replies(pipeline)).map((reply, i): Standing | null => {
    const [state, attempt, lane, home, tag, notBefore] = reply as (string | null)[];
    if (!state) return null;
    return {
      id: ids[i] ?? '',
      state: state as State,
      attempt: Number(attempt),
      lane: lane ? lane : null,
      home: home ?? '',
      tag: Number(tag ?? 0),
      notBefore: notBefore ? Number(notBefore) : null,
    };
  });
}
