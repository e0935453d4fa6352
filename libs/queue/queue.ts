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
import {
  ANY_NODE,
  evaluateJson,
  keys,
  openRecords,
  queueName,
  recordFields,
  packSubmitted,
  scriptKeys,
  type BlobKind,
  type BlobPlace,
} from '#store';
import { operations } from './lua.js';
import { openTickets } from './tickets.js';
import { openTransitions } from './transitions.js';

export type NewDispatch = {
  record: DispatchRecord;
  blobs: { prompt: string; schema: string | null; env: string };
  /** Digest of the task; needed where the request names a `once` key. */
  task?: string;
};

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

type SubmitReply = { records: { id: string; new: boolean; tag: number }[] } | { conflict: { key: string; id: string } };

export function onceConflict(key: string, id: string): ErrorBody {
  return errorBody('CMO_E_ONCE_CONFLICT', `the key ${JSON.stringify(key)} belongs to another task`, {
    details: [`its dispatch is ${id}`],
  });
}

/** As they are looked up: `name=text`. */
export function labelsOf(labels: Record<string, string> | undefined): string[] {
  return Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
}

/** As the script wants it. */
function submitted({ record, task }: NewDispatch): object {
  return {
    id: record.id,
    state: record.state,
    class: record.class,
    flow: record.request.batch ?? record.project,
    batch: record.request.batch,
    labels: labelsOf(record.request.labels),
    once: record.request.once === undefined ? undefined : { key: record.request.once, body: task ?? '' },
    retryOf: record.request.retryOf,
    fields: recordFields(record, record.lane === null ? '' : queueName(record.lane, record.home)),
  };
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
      if (news.length === 0) return [];
      const packed: Buffer[] = [];
      const textsOf = async ({ record: { id, home }, blobs }: NewDispatch): Promise<Record<string, number>> => {
        const at: Record<string, number> = {};
        const put = async (kind: BlobKind, text: string | null, where: BlobPlace | null): Promise<void> => {
          if (text === null) return;
          // Its place in ARGV, which begins at 1 with the JSON.
          at[kind] = packed.push(await packSubmitted(where, id, kind, text)) + 1;
        };
        // What every box may have to read must not lie on this one.
        const where = home === ANY_NODE ? null : place;
        await put('prompt', blobs.prompt, where);
        await put('schema', blobs.schema, where);
        // Its values may be secrets: they never touch the disk but as Redis writes them.
        await put('env', blobs.env, null);
        return at;
      };
      const wanted: object[] = [];
      for (const one of news) wanted.push({ ...submitted(one), texts: await textsOf(one) });
      const reply = await evaluateJson<SubmitReply>(
        redis,
        operations.submit,
        [keys.record(news[0]?.record.id ?? '')],
        { k: scriptKeys, lookIn: config.timing.ticketRepairMs, records: wanted },
        packed,
      );
      if ('conflict' in reply) throw new CmoError(onceConflict(reply.conflict.key, reply.conflict.id));
      const now = await Promise.all(
        news.map(async ({ record }, i) => {
          const stored = reply.records[i];
          if (stored?.new && !isEnded(record.state)) return { ...record, tag: stored.tag };
          return (await records.read(stored?.id ?? record.id)) ?? record;
        }),
      );
      // Told before the ticket is there: whoever serves no such queue yet begins to.
      if (now.some(({ home }) => home === ANY_NODE) && (await redis.set(keys.anyUsed, '1', 'NX')) === 'OK')
        await redis.publish(keys.channels.control, '');
      // A crash from here on loses nothing: the sweeper adds the ticket of any waiting record that has none. Also for
      // what was known: whoever sends again after a lost answer
      // shouldn't wait for that, and a ticket too many is harmless.
      await tickets.add(now.filter(({ state }) => isWaiting(state)));
      return now;
    },

    async cancel(id) {
      const { how, state } = await transitions.cancel(id, { error: errorBody('CMO_E_CANCELLED') });
      return how === 'unknown' || state === undefined ? null : { how, state };
    },

    close: () => tickets.close(),
  };
}
