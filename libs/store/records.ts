import { STATES, type DispatchRecord, type State } from '#contract';
import type { Redis } from 'ioredis';
import { keys, type BlobKind } from './keys.js';
import { replies } from './pipeline.js';
import { parseRecord } from './record-fields.js';

/** Reading what Redis knows of dispatches. Writing is only by the compare-and-set scripts (libs/queue). */
export interface Records {
  read(id: string): Promise<DispatchRecord | null>;
  /** The last submitted first; all states when none is named. Throws when Redis can't answer: never an empty list instead. */
  list(filter: { states?: readonly State[]; batch?: string; limit: number }): Promise<DispatchRecord[]>;
  counts(): Promise<Record<State, number>>;
  blob(id: string, kind: BlobKind): Promise<string | null>;
  putBlob(id: string, kind: BlobKind, text: string): Promise<void>;
}

export function openRecords(redis: Redis): Records {
  async function readMany(ids: string[]): Promise<DispatchRecord[]> {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hgetall(keys.record(id));
    return (await replies(pipeline)).flatMap((fields) => {
      const record = parseRecord(fields as Record<string, string>);
      return record ? [record] : [];
    });
  }

  return {
    async read(id) {
      return parseRecord(await redis.hgetall(keys.record(id)));
    },

    async list({ states, batch, limit }) {
      if (limit < 1) return [];
      if (batch !== undefined) {
        const ids = await redis.zrevrange(keys.batch(batch), 0, -1);
        const found = await readMany(ids);
        return found.filter((record) => !states || states.includes(record.state)).slice(0, limit);
      }
      const pipeline = redis.pipeline();
      for (const state of states ?? STATES) pipeline.zrevrange(keys.state(state), 0, limit - 1, 'WITHSCORES');
      const found = (await replies(pipeline)).flatMap((reply) => pairs(reply as string[]));
      found.sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1));
      return readMany(found.slice(0, limit).map(({ id }) => id));
    },

    async counts() {
      const pipeline = redis.pipeline();
      for (const state of STATES) pipeline.zcard(keys.state(state));
      const sizes = await replies(pipeline);
      return Object.fromEntries(STATES.map((state, i) => [state, Number(sizes[i])])) as Record<State, number>;
    },

    blob: (id, kind) => redis.get(keys.blob(id, kind)),

    async putBlob(id, kind, text) {
      await redis.set(keys.blob(id, kind), text);
    },
  };
}

/** Redis' flat answer: member, score, member, score, … */
function pairs(flat: readonly string[]): { id: string; at: number }[] {
  return flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: Number(flat[i + 1]) }] : []));
}
