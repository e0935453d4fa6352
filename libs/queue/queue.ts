import type { Redis } from 'ioredis';
import { errorBody, isEnded, type Config, type DispatchRecord, type State } from '#contract';
import { BLOB_KINDS, evaluateJson, keys, openRecords, queueName, recordFields, replies, scriptKeys, type BlobKind } from '#store';
import { operations } from './lua.js';
import { openTickets } from './tickets.js';
import { openTransitions } from './transitions.js';

export type NewDispatch = { record: DispatchRecord; blobs: { prompt: string; schema: string | null; env: string } };

/** What the front doors do to the queue. */
export interface DispatchQueue {
  /**
   * 1..1,000, all or none; durable when it returns. An id that is known already is left as it is and its record
   * returned, so a client may send the same thing again after a lost answer.
   */
  submit(news: readonly NewDispatch[]): Promise<DispatchRecord[]>;
  cancel(id: string): Promise<{ how: 'cancelled' | 'asked' | 'already-ended'; state: State } | null>;
  close(): Promise<void>;
}

/** Blobs are written before the record that names them; without a record they are gone after this long. */
const UNCLAIMED_BLOB_S = 3600;

export function openQueue({ redis, config }: { redis: Redis; config: Config }): DispatchQueue {
  const records = openRecords(redis);
  const tickets = openTickets(redis);
  const transitions = openTransitions(redis, config);

  return {
    async submit(news) {
      if (news.length === 0) return [];
      const blobs = redis.pipeline();
      const put = (id: string, kind: BlobKind, text: string | null): void => {
        if (text !== null) blobs.set(keys.blob(id, kind), text, 'EX', UNCLAIMED_BLOB_S, 'NX');
      };
      for (const { record, blobs: texts } of news) {
        put(record.id, 'prompt', texts.prompt);
        put(record.id, 'schema', texts.schema);
        put(record.id, 'env', texts.env);
      }
      await replies(blobs);
      const stored = await evaluateJson<{ id: string; new: boolean; tag: number }[]>(redis, operations.submit, [keys.record(news[0]?.record.id ?? '')], {
        k: scriptKeys,
        lookIn: config.timing.ticketRepairMs,
        blobs: BLOB_KINDS,
        records: news.map(({ record }) => ({
          id: record.id,
          state: record.state,
          class: record.class,
          flow: record.request.batch ?? record.project,
          batch: record.request.batch,
          fields: recordFields(record, record.lane === null ? '' : queueName(record.lane, record.home)),
        })),
      });
      const fresh = new Map(stored.filter((one) => one.new).map((one) => [one.id, one.tag]));
      const now = await Promise.all(
        news.map(async ({ record }) => {
          const tag = fresh.get(record.id);
          if (tag !== undefined && !isEnded(record.state)) return { ...record, tag };
          return (await records.read(record.id)) ?? record;
        }),
      );
      // A crash from here on loses nothing: the sweeper adds the ticket of any waiting record that has none. Also for what was
      // known: whoever sends again after a lost answer shouldn't wait for that, and a ticket too many is harmless.
      await tickets.add(now.filter(({ state }) => state === 'queued' || state === 'retrying'));
      return now;
    },

    async cancel(id) {
      const { how, state } = await transitions.cancel(id, { error: errorBody('CMO_E_CANCELLED') });
      return how === 'unknown' || state === undefined ? null : { how, state };
    },

    close: () => tickets.close(),
  };
}
