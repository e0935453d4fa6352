import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { ticketId, type DispatchRecord } from '#contract';
import { keys, queueName, replies } from '#store';

/**
 * Start tickets: BullMQ holds the order in which attempts start, nothing else. A ticket names an attempt; the record
 * decides whether it still counts, so a ticket too many is harmless and one too few is added by the sweeper.
 */
export interface Tickets {
  add(records: readonly TicketOf[]): Promise<void>;
  /** Whether the ticket of this attempt is in its queue, waiting, delayed or active. */
  exists(record: TicketOf): Promise<boolean>;
  /** The same for many, in one round trip. */
  existing(records: readonly TicketOf[]): Promise<boolean[]>;
  close(): Promise<void>;
}

export type TicketData = { id: string; attempt: number };
/** What a ticket is made of. */
export type TicketOf = Pick<DispatchRecord, 'id' | 'attempt' | 'lane' | 'home' | 'tag' | 'notBefore'>;

export function openTickets(redis: Redis): Tickets {
  const queues = new Map<string, Queue<TicketData>>();
  const queueOf = (name: string): Queue<TicketData> => {
    const known = queues.get(name);
    if (known) return known;
    // The check is one question at the first use: were Redis away just then, the queue would fail for good.
    const queue = new Queue<TicketData>(name, { connection: redis, prefix: keys.bull, skipVersionCheck: true });
    queue.on('error', () => {});
    queues.set(name, queue);
    return queue;
  };

  return {
    async add(records) {
      const byQueue = new Map<string, TicketOf[]>();
      for (const record of records) {
        if (record.lane === null) continue;
        const name = queueName(record.lane, record.home);
        const group = byQueue.get(name) ?? [];
        byQueue.set(name, group);
        group.push(record);
      }
      for (const [name, group] of byQueue) {
        await queueOf(name).addBulk(
          group.map((record) => ({
            name: 'start',
            data: { id: record.id, attempt: record.attempt },
            opts: {
              jobId: ticketId(record.id, record.attempt),
              // 0 would run before every prioritised ticket.
              priority: Math.max(record.tag, 1),
              attempts: 1,
              // A kept finished ticket makes the sweeper's re-add a silent no-op: the dispatch would never start.
              removeOnComplete: true,
              removeOnFail: true,
              ...(record.notBefore !== null ? { delay: Math.max(record.notBefore - Date.now(), 0) } : {}),
            },
          })),
        );
      }
    },

    async exists(record) {
      const [there] = await this.existing([record]);
      return there ?? false;
    },

    async existing(records) {
      const pipeline = redis.pipeline();
      for (const { id, attempt, lane, home } of records)
        pipeline.exists(`${keys.bull}:${queueName(lane ?? '', home)}:${ticketId(id, attempt)}`);
      return (await replies(pipeline)).map((there) => there === 1);
    },

    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
