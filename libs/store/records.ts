import { STATES, type BatchStatus, type DispatchRecord, type State } from '#contract';
import type { Redis } from 'ioredis';
import { packBlob, readBlob, unpackBlob, type BlobPlace, type StoredText } from './blobs.js';
import { listCensuses, readCensus } from './census.js';
import { keys, type BlobKind } from './keys.js';
import { listRecords, readRecords, type Filter } from './listing.js';
import { replies } from './pipeline.js';
import { parseRecord } from './record-fields.js';

/** A record with what was submitted beside it. A text is null where there was none, or it is not kept any more. */
export type StoredTask = {
  record: DispatchRecord;
  prompt: StoredText | null;
  schema: StoredText | null;
  /** JSON: its submitter's environment, as it was captured. */
  environment: StoredText | null;
};

/** Reading what Redis knows of dispatches. Writing is only by the compare-and-set scripts (libs/queue). */
export interface Records {
  read(id: string): Promise<DispatchRecord | null>;
  /** The record and its texts, in one round trip. */
  task(id: string): Promise<StoredTask | null>;
  /**
   * The last submitted first; all states when none is named.
   * Throws when Redis can't answer: never an empty list instead.
   */
  list(filter: Filter): Promise<DispatchRecord[]>;
  counts(): Promise<Record<State, number>>;
  /** In their order; those that are not there are left out. */
  readMany(ids: readonly string[]): Promise<DispatchRecord[]>;
  /** How a batch stands. Null: nothing was ever submitted under this name, or all of it is forgotten. */
  census(batch: string): Promise<BatchStatus | null>;
  /** The one last submitted to first. */
  batches(limit: number): Promise<BatchStatus[]>;
  /** The dispatch that a `--once` key belongs to, and the digest of its task. */
  once(key: string): Promise<{ id: string; task: string } | null>;
  /** Whole, or its head with a mark where the whole of it lies on another box. */
  blob(id: string, kind: BlobKind): Promise<string | null>;
  /** The same, and whether it is whole. */
  text(id: string, kind: BlobKind): Promise<StoredText | null>;
  putBlob(id: string, kind: BlobKind, text: string): Promise<void>;
}

/** @param place where this box keeps what is too large for Redis; null: everything stays in Redis */
export function openRecords(redis: Redis, place: BlobPlace | null = null): Records {
  return {
    async read(id) {
      return parseRecord(await redis.hgetall(keys.record(id)));
    },

    async task(id) {
      const pipeline = redis.pipeline().hgetall(keys.record(id));
      for (const kind of ['prompt', 'schema', 'env'] as const) pipeline.getBuffer(keys.blob(id, kind));
      const [fields, ...packed] = (await replies(pipeline)) as [Record<string, string>, ...(Buffer | null)[]];
      const record = parseRecord(fields);
      if (record === null) return null;
      const texts = packed.map(async (one) => (one === null ? null : unpackBlob(place, one)));
      const [prompt = null, schema = null, environment = null] = await Promise.all(texts);
      return { record, prompt, schema, environment };
    },

    readMany: (ids) => readRecords(redis, ids),
    list: (filter) => listRecords(redis, filter),

    async counts() {
      const pipeline = redis.pipeline();
      for (const state of STATES) pipeline.zcard(keys.state(state));
      const sizes = await replies(pipeline);
      return Object.fromEntries(STATES.map((state, i) => [state, Number(sizes[i])])) as Record<State, number>;
    },

    census: (batch) => readCensus(redis, batch),
    batches: (limit) => listCensuses(redis, limit),

    async once(key) {
      const [id, task] = await redis.hmget(keys.once(key), 'id', 'body');
      return id ? { id, task: task ?? '' } : null;
    },

    blob: async (id, kind) => (await readBlob(redis, place, id, kind))?.text ?? null,
    text: (id, kind) => readBlob(redis, place, id, kind),

    async putBlob(id, kind, text) {
      await redis.set(keys.blob(id, kind), await packBlob(place, id, kind, text));
    },
  };
}
