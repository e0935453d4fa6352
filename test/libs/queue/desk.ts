import type { Redis } from 'ioredis';
import { attemptId, errorBody, type Config, type DispatchRecord, type LaneConfig } from '#contract';
import { laneCost, openGate, type Gate } from '#gate';
import {
  openQueue,
  openTickets,
  openTransitions,
  type Closing,
  type DeliverAnswer,
  type DispatchQueue,
  type Next,
  type StartAnswer,
  type Tickets,
  type Transitions,
} from '#queue';
import { openRecords, queueName, type Records } from '#store';
import { laneOf, testRecord, type RecordChange } from '../../support/records.js';

/** What the tests of the queue do to it, in the steps that the worker takes. */
export type Desk = {
  config: Config;
  gate: Gate;
  queue: DispatchQueue;
  transitions: Transitions;
  records: Records;
  tickets: Tickets;
  /** One new dispatch, submitted. */
  submit(change?: RecordChange): Promise<DispatchRecord>;
  read(id: string): Promise<DispatchRecord>;
  /** Reserves under this token, as before a fetch; throws when it is refused. */
  reserve(token: string, lane?: string): Promise<void>;
  /** Binds that token to the record's attempt. */
  start(
    record: DispatchRecord,
    token: string,
    change?: Partial<Parameters<Transitions['start']>[0]>,
  ): Promise<StartAnswer>;
  /** reserve and start; throws unless it runs. Answers the record as it then is. */
  run(record: DispatchRecord): Promise<DispatchRecord>;
  deliver(record: DispatchRecord, what?: Delivery): Promise<DeliverAnswer>;
  /** A reading of the lane's five-hour window, written now (or at `at`). */
  meter(percent: number, at?: number, lane?: string): Promise<boolean>;
  close(): Promise<void>;
};

export type Delivery = { next?: Next; cancelled?: Next; close?: Closing | null; success?: boolean; node?: string };

export const succeeded: Next = { state: 'succeeded', event: 'succeeded', change: {} };
export const failed: Next = { state: 'failed', event: 'failed', change: { error: errorBody('CMO_E_FAILED') } };
export const cancelled: Next = {
  state: 'cancelled',
  event: 'cancelled',
  change: { error: errorBody('CMO_E_CANCELLED') },
};

/** Queued again as the next attempt on that lane. */
export function rerouted(record: DispatchRecord, lane: LaneConfig): Next {
  return {
    state: 'queued',
    event: 'rerouted',
    change: {
      attempt: record.attempt + 1,
      lane: lane.id,
      account: lane.account,
      cost: laneCost(lane),
      notBefore: null,
    },
  };
}

export function retrying(record: DispatchRecord, notBefore: number): Next {
  return { state: 'retrying', event: 'retried', change: { attempt: record.attempt + 1, notBefore } };
}

let tokens = 0;

export function openDesk(redis: Redis, config: Config): Desk {
  const gate = openGate(redis, config);
  const queue = openQueue({ redis, config });
  const transitions = openTransitions(redis, config);
  const records = openRecords(redis);
  const tickets = openTickets(redis);
  const laneOfRecord = (record: DispatchRecord): LaneConfig => laneOf(config, record.lane ?? '');

  const read = async (id: string): Promise<DispatchRecord> => {
    const record = await records.read(id);
    if (!record) throw new Error(`no record ${id}`);
    return record;
  };
  const reserve = async (token: string, lane = 'codex'): Promise<void> => {
    const answer = await gate.reserve(token, laneOf(config, lane), queueName(lane, config.nodeId), config.nodeId);
    if (!answer.ok) throw new Error(`refused: ${answer.reason}`);
  };
  const start: Desk['start'] = (record, token, change = {}) =>
    transitions.start({
      record,
      node: config.nodeId,
      nonce: `nonce-${token}`,
      token,
      cost: laneCost(laneOfRecord(record)),
      ttlMs: 60_000,
      ...change,
    });

  return {
    config,
    gate,
    queue,
    transitions,
    records,
    tickets,
    read,
    reserve,
    start,
    async submit(change = {}) {
      const [record] = await queue.submit([
        { record: testRecord(config, change), blobs: { prompt: 'p', schema: null, env: '{}' } },
      ]);
      if (!record) throw new Error('nothing was submitted');
      return record;
    },
    async run(record) {
      tokens += 1;
      const token = `run-${tokens}`;
      await reserve(token, record.lane ?? '');
      const answer = await start(record, token);
      if (answer.answer !== 'yes') throw new Error(`${record.id} did not start: ${JSON.stringify(answer)}`);
      return read(record.id);
    },
    deliver(
      record,
      { next = succeeded, cancelled: instead = cancelled, close = null, success = false, node = config.nodeId } = {},
    ) {
      const receipt = JSON.stringify({ kind: 'attempt', id: attemptId(record.id, record.attempt) });
      return transitions.deliver({
        record,
        attempt: record.attempt,
        account: laneOfRecord(record).account,
        node,
        receipt,
        next,
        cancelled: instead,
        close,
        success,
      });
    },
    meter(percent, at = Date.now(), lane = 'codex') {
      const windows = [
        {
          id: 'five_hour',
          kind: 'five_hour' as const,
          usedPercent: percent,
          resetsAt: Date.now() + 3_600_000,
          scope: null,
        },
      ];
      return gate.read({
        account: laneOf(config, lane).account,
        windows,
        source: 'test',
        writtenAt: at,
        readAt: at,
        plan: null,
      });
    },
    async close() {
      await queue.close();
      await tickets.close();
    },
  };
}
