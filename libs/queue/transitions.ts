import type { Redis } from 'ioredis';
import { settleCeiling } from '#gate';
import {
  errorBody,
  type Config,
  type CostVector,
  type DispatchRecord,
  type EndState,
  type LiveState,
  type Progress,
  type State,
} from '#contract';
import { changedFields, evaluate, evaluateJson, gateKeys, keys, queueName, scriptKeys, type Fields } from '#store';
import { operations } from './lua.js';

/** What a record becomes next: a state, the event's name, and the fields that change with it. */
export type Next = {
  state: EndState | Exclude<LiveState, 'running'>;
  event: string;
  change: Partial<DispatchRecord>;
  /** The lane that it leaves for the closing which this very delivery makes; the script names the event. */
  leaves?: string;
};

export type StartAnswer =
  { answer: 'yes'; cancelAsked: boolean } | { answer: 'stale'; state: string } | { answer: 'lapsed' };
export type DeliverAnswer = { answer: 'delivered'; state: State } | { answer: 'fenced'; state: string };

/** The account closes: until the reset the vendor stated (Redis' time, ms), or by the growing bounds. */
export type Closing = { til: number | null; reason: string };

/** The compare-and-set scripts of a record's life, as calls. */
export interface Transitions {
  start(s: {
    record: DispatchRecord;
    node: string;
    nonce: string;
    token: string;
    cost: CostVector;
    ttlMs: number;
    change?: Partial<DispatchRecord>;
  }): Promise<StartAnswer>;
  deliver(d: {
    record: DispatchRecord;
    attempt: number;
    account: string;
    node: string;
    receipt: string;
    next: Next;
    cancelled: Next;
    close: Closing | null;
    success: boolean;
    drift?: boolean;
  }): Promise<DeliverAnswer>;
  /** A waiting dispatch moves or ends. False: it waits no more as that attempt. */
  change(record: DispatchRecord, next: Next): Promise<boolean>;
  cancel(
    id: string,
    change: Partial<DispatchRecord>,
  ): Promise<{ how: 'cancelled' | 'asked' | 'already-ended' | 'unknown'; state?: State }>;
  unstart(record: DispatchRecord, attempt: number, node: string): Promise<boolean>;
  /**
   * What the attempt that runs has done so far. False: it does not run any more. @param silentMs since it last showed
   * life
   */
  progress(id: string, node: string, silentMs: number, progress: Omit<Progress, 'movedAt'>): Promise<boolean>;
  /** A waiting dispatch stands behind an attempt that works in its folder; null: no more. */
  behind(record: DispatchRecord, holder: string | null): Promise<boolean>;
  assertRun(r: {
    id: string;
    attempt: number;
    node: string;
    lane: string;
    account: string;
    tier: string;
    cost: CostVector;
    home: string;
    ttlMs: number;
  }): Promise<'asserted' | 'fits' | 'later' | 'gone'>;
}

/** The lane is closed after this many runs in a row whose events the reader did not understand. */
const DRIFT_CLOSES_AT = 3;

export function openTransitions(redis: Redis, config: Config): Transitions {
  const k = scriptKeys;
  const lookIn = config.timing.ticketRepairMs;
  const fieldsOf = (change: Partial<DispatchRecord>, home: string): Fields => {
    const lane = change.lane;
    return changedFields(lane === undefined || lane === null ? change : { ...change, queue: queueName(lane, home) });
  };
  const nextOf = (next: Next, home: string): object => ({
    state: next.state,
    event: next.event,
    fields: fieldsOf(next.change, home),
    leaves: next.leaves,
  });

  return {
    async start({ record, node, nonce, token, cost, ttlMs, change = {} }) {
      const { id, attempt, lane } = record;
      // Where the token was reserved: the configuration may have moved the lane to another account since the submit.
      const account = config.lanes.find((known) => known.id === lane)?.account ?? record.account ?? '';
      const names = [...gateKeys(account), keys.record(id)];
      return evaluateJson<StartAnswer>(redis, operations.start, names, {
        k,
        id,
        attempt,
        lane,
        node,
        nonce,
        token,
        cost,
        ttl: ttlMs,
        account,
        early: 5,
        fields: changedFields(change),
      });
    },

    async deliver({ record, attempt, account, node, receipt, next, cancelled, close, success, drift = false }) {
      const names = [...gateKeys(account), keys.record(record.id)];
      return evaluateJson<DeliverAnswer>(redis, operations.deliver, names, {
        k,
        id: record.id,
        attempt,
        node,
        account,
        ceiling: settleCeiling(config, account),
        lookIn,
        receipt,
        next: nextOf(next, record.home),
        cancelled: nextOf(cancelled, record.home),
        close: close
          ? { til: close.til ?? undefined, reason: close.reason, bounds: config.timing.refusalMs }
          : undefined,
        success,
        drift: drift ? { lane: record.lane ?? '', most: DRIFT_CLOSES_AT, bounds: config.timing.refusalMs } : undefined,
      });
    },

    async change(record, next) {
      const argument = { k, id: record.id, attempt: record.attempt, lookIn, next: nextOf(next, record.home) };
      return (await evaluate(redis, operations.change, [keys.record(record.id)], argument)) === 1;
    },

    async cancel(id, change) {
      return evaluateJson(redis, operations.cancel, [keys.record(id)], {
        k,
        id,
        lookIn,
        fields: changedFields(change),
      });
    },

    async unstart(record, attempt, node) {
      const names = [...gateKeys(record.account ?? ''), keys.record(record.id)];
      const cancelled = changedFields({ error: errorBody('CMO_E_CANCELLED') });
      return (
        (await evaluate(redis, operations.unstart, names, {
          k,
          id: record.id,
          attempt,
          node,
          account: record.account ?? '',
          lookIn,
          cancelled,
        })) === 1
      );
    },

    async progress(id, node, silentMs, progress) {
      const argument = {
        k,
        id,
        attempt: progress.attempt,
        node,
        silent: Math.max(Math.round(silentMs), 0),
        progress: JSON.stringify(progress),
      };
      return (await evaluate(redis, operations.progress, [keys.record(id)], argument)) === 1;
    },

    async behind({ id, attempt }, holder) {
      return (
        (await evaluate(redis, operations.behind, [keys.record(id)], {
          k,
          id,
          attempt,
          holder: holder ?? undefined,
        })) === 1
      );
    },

    async assertRun({ id, attempt, node, lane, account, tier, cost, home, ttlMs }) {
      const names = [...gateKeys(account), keys.record(id)];
      const argument = { k, id, attempt, node, lane, account, queue: queueName(lane, home), tier, cost, ttl: ttlMs };
      return (await evaluate(redis, operations.assertRun, names, argument)) as 'asserted' | 'fits' | 'later' | 'gone';
    },
  };
}
