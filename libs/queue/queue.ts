import type { Redis } from 'ioredis';
import {
  CmoError,
  errorBody,
  isEnded,
  isWaiting,
  type Config,
  type DispatchRecord,
  type ErrorBody,
  type State,
} from '#contract';
import { ANY_NODE, evaluateJson, keys, openRecords, scriptKeys, type BlobPlace } from '#store';
import { operations } from './lua.js';
import { submission, type NewDispatch } from './submission.js';
import { openTickets } from './tickets.js';
import { openTransitions } from './transitions.js';

/** What the front doors do to the queue. */
export interface DispatchQueue {
  /**
   * 1..1,000, all or none; durable when it returns. An id that is known already is left as it is and its record
   * returned, so a client may send the same thing again after a lost answer. A `once` key that is known stands for its
   * first dispatch, whose record is returned in its place; with another task it throws CMO_E_ONCE_CONFLICT.
   */
  submit(news: readonly NewDispatch[]): Promise<DispatchRecord[]>;
  cancel(id: string): Promise<{ how: 'cancelled' | 'asked' | 'already-ended'; state: State } | null>;
  close(): Promise<void>;
}

type Stored = { id: string; new: boolean; tag: number };
type SubmitReply = { records: Stored[] } | { conflict: { key: string; id: string } };

export function onceConflict(key: string, id: string): ErrorBody {
  return errorBody('CMO_E_ONCE_CONFLICT', `the key ${JSON.stringify(key)} belongs to another task`, {
    details: [`its dispatch is ${id}`],
  });
}

/** @param blobs where this box keeps texts that are too large for Redis; null: everything stays in Redis */
export function openQueue({
  redis,
  config,
  blobs: place = null,
}: {
  redis: Redis;
  config: Config;
  blobs?: BlobPlace | null;
}): DispatchQueue {
  const records = openRecords(redis, place);
  const tickets = openTickets(redis);
  const transitions = openTransitions(redis, config);

  return {
    async submit(news) {
      const [first] = news;
      if (!first) return [];
      const { entries, texts } = await submission(news, place);
      const reply = await evaluateJson<SubmitReply>(
        redis,
        operations.submit,
        [keys.record(first.record.id)],
        { k: scriptKeys, lookIn: config.timing.ticketRepairMs, records: entries },
        texts,
      );
      if ('conflict' in reply) throw new CmoError(onceConflict(reply.conflict.key, reply.conflict.id));
      const now = await Promise.all(news.map(({ record }, i) => asStored(record, reply.records[i])));
      // Told before the ticket is there: whoever serves no such queue yet begins to.
      if (now.some(({ home }) => home === ANY_NODE)) await tellOfAnyNode();
      // A crash from here on loses nothing: the sweeper adds the ticket of any waiting record that has none. Also for
      // what was known: whoever sends again after a lost answer shouldn't wait for that, and a ticket too many is
      // harmless.
      await tickets.add(now.filter(({ state }) => isWaiting(state)));
      return now;
    },

    async cancel(id) {
      const { how, state } = await transitions.cancel(id, { error: errorBody('CMO_E_CANCELLED') });
      return how === 'unknown' || state === undefined ? null : { how, state };
    },

    close: () => tickets.close(),
  };
  /** What was new and goes on stands as it was sent, with its tag; all else is read. */
  async function asStored(record: DispatchRecord, stored: Stored | undefined): Promise<DispatchRecord> {
    if (stored?.new && !isEnded(record.state)) return { ...record, tag: stored.tag };
    return (await records.read(stored?.id ?? record.id)) ?? record;
  }

  /** Once, with the first work for any node: until then nobody serves its queue. */
  async function tellOfAnyNode(): Promise<void> {
    if ((await redis.set(keys.anyUsed, '1', 'NX')) === 'OK') await redis.publish(keys.channels.control, '');
  }
}
