import type { Redis } from 'ioredis';
import type { Config, CostVector, DispatchClass, LaneConfig, LanesFacts, LeftLane, MeterReading } from '#contract';
import { evaluate, evaluateJson, gateKeys, keys } from '#store';
import { laneFacts } from './facts.js';
import { laneRules, settleCeiling, wakeOf } from './lane-rules.js';
import { operations } from './lua.js';
import { cheapest, laneCost, thousandths, type CostsOf } from './points.js';
import { readSnapshot, type AccountSnapshot } from './snapshot.js';

export type Admission =
  | { ok: true; cost: CostVector; canary: boolean }
  /**
   * `til`: ms, when asking again can help; null when only a wake can. `bare`: nothing reserved and nothing settling.
   */
  | {
      ok: false;
      reason: RefusalReason;
      window: string | null;
      til: number | null;
      bare: boolean;
      event: WindowEvent | null;
    };

/** Which closing of a window this is: work that leaves the lane for it is not offered the lane again while it is on. */
export type WindowEvent = Omit<LeftLane, 'lane'>;

export type RefusalReason =
  'limit' | 'hold-back' | 'slots' | 'lane-slots' | 'dark' | 'closed' | 'canary' | 'paused' | 'drained' | 'restart';

/** Refusals that waiting for a window cures, against those that a free slot cures. */
export function waitsForQuota(reason: RefusalReason): boolean {
  return reason === 'limit' || reason === 'closed' || reason === 'canary' || reason === 'paused';
}

export interface Gate {
  /** Before a fetch: reserves the dearest tier that waits in the queue, under a token. */
  reserve(token: string, lane: LaneConfig, queue: string, node: string): Promise<Admission>;
  giveBack(token: string, account: string): Promise<void>;
  /**
   * While an agent waits for one that it sent itself its slot is another's; its points stay. @returns whether that
   * changed something
   */
  lend(attempt: string, account: string, lent: boolean): Promise<boolean>;
  /** Takes back what this node had lent: who waited for what went with the process. */
  recall(node: string): Promise<void>;
  /** Why a known dispatch would wait now; reserves nothing. */
  look(lane: LaneConfig, cost: CostVector, of: DispatchClass, node?: string): Promise<Admission>;
  renew(run: RenewedRun): Promise<'renewed' | 'made' | 'not-running'>;
  /**
   * All times in Redis' time. False: older than what is known, or nothing to use in it (no window, or a number that is
   * none). `partial`: windows not named keep their value, and what settles in them.
   */
  read(reading: MeterReading, partial?: boolean): Promise<boolean>;
  snapshot(account: string): Promise<AccountSnapshot>;
  facts(lanes: readonly LaneConfig[], installed: Record<string, boolean>): Promise<LanesFacts>;
  /** Differences between the sums and the raw reservations, which were corrected. */
  recount(account: string): Promise<Record<string, number>>;
  accounts(): string[];
  /** All runs there can be were asserted since this Redis started: only for a node that has the Redis to itself. */
  asserted(): Promise<void>;
}

export type RenewedRun = {
  dispatch: string;
  attempt: number;
  lane: LaneConfig;
  node: string;
  class: string;
  project: string;
  cost: CostVector;
  ttlMs: number;
};

/**
 * @param costsOf what an attempt of a lane and tier is taken to cost; the default is the configuration's word, measured
 * costs come from the worker
 */
export function openGate(redis: Redis, config: Config, costsOf: CostsOf = laneCost): Gate {
  const limit = thousandths(config.pressure.exhausted);
  const accounts = [...new Set(config.lanes.map((lane) => lane.account))];

  const snapshot = (account: string): Promise<AccountSnapshot> => readSnapshot(redis, account, wakeOf(config, account));

  return {
    async reserve(token, lane, queue, node) {
      const costs = Object.fromEntries(Object.keys(lane.models).map((tier) => [tier, costsOf(lane, tier)]));
      const names = [...gateKeys(lane.account), keys.waiting(queue), keys.control];
      return admissionOf(
        await evaluateJson<Reply>(redis, operations.reserve, names, {
          id: token,
          node,
          project: '',
          costs,
          ...laneRules(config, lane),
        }),
      );
    },

    async giveBack(token, account) {
      await evaluate(redis, operations.giveBack, gateKeys(account), {
        id: token,
        account,
        channel: keys.channels.wake,
      });
    },

    async lend(attempt, account, lent) {
      return (
        (await evaluate(redis, operations.lend, gateKeys(account), {
          account,
          channel: keys.channels.wake,
          id: attempt,
          lent,
        })) === 1
      );
    },

    async recall(node) {
      for (const account of accounts)
        await evaluate(redis, operations.lend, gateKeys(account), {
          account,
          channel: keys.channels.wake,
          node,
          lent: false,
        });
    },

    async look(lane, cost, of, node = '') {
      const names = [...gateKeys(lane.account), keys.waiting(''), keys.control];
      return admissionOf(
        await evaluateJson<Reply>(redis, operations.reserve, names, {
          id: 'look',
          node,
          cost,
          class: of,
          dry: true,
          ...laneRules(config, lane),
        }),
      );
    },

    async renew({ dispatch, attempt, lane, node, class: of, project, cost, ttlMs }) {
      const names = [...gateKeys(lane.account), keys.record(dispatch)];
      const argument = {
        id: `${dispatch}.${attempt}`,
        attempt,
        node,
        lane: lane.id,
        class: of,
        project,
        cost,
        ttl: ttlMs,
        ceiling: settleCeiling(config, lane.account),
      };
      return (await evaluate(redis, operations.renew, names, argument)) as 'renewed' | 'made' | 'not-running';
    },

    async read(reading, partial = false) {
      if (!usable(reading)) return false;
      const { account } = reading;
      const argument = { ...wakeOf(config, account), ...readingArgument(reading), partial };
      return (await evaluate(redis, operations.meter, gateKeys(account), argument)) === 1;
    },

    snapshot,

    async facts(lanes, installed) {
      const read = [...new Set(lanes.map((lane) => lane.account))];
      const pictures = new Map(
        await Promise.all(read.map(async (account) => [account, await snapshot(account)] as const)),
      );
      return Object.fromEntries(
        lanes.flatMap((lane) => {
          const picture = pictures.get(lane.account);
          return picture
            ? [[lane.id, laneFacts(picture, lane.id, installed[lane.id] ?? false, cheapest(lane, costsOf), limit)]]
            : [];
        }),
      );
    },

    async recount(account) {
      return evaluateJson<Record<string, number>>(
        redis,
        operations.recount,
        gateKeys(account),
        wakeOf(config, account),
      );
    },

    async asserted() {
      const [[seconds, micros], saved] = await Promise.all([redis.time(), redis.lastsave()]);
      const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
      for (const account of accounts) {
        const { flags } = keys.gate(account);
        // Once per start of Redis: each write would stand in its file for ever.
        if (Number((await redis.hget(flags, 'asserted')) ?? 0) < saved * 1000) await redis.hset(flags, 'asserted', now);
      }
    },

    accounts: () => [...accounts],
  };
}

/** What reserve.lua answers; members that say nothing are left out. */
type Reply =
  | { ok: true; cost: CostVector; canary: boolean }
  | { ok: false; reason: RefusalReason; window?: string; til?: number; bare: boolean; event?: WindowEvent };

function admissionOf(reply: Reply): Admission {
  if (reply.ok) return reply;
  const { reason, window = null, til = null, bare, event = null } = reply;
  return { ok: false, reason, window, til, bare, event };
}

/** A reading as meter.lua takes it: percents in thousandths, times in Redis' ms, nulls left out. */
function readingArgument({ windows, writtenAt, readAt, source, plan, reached, overage }: MeterReading): object {
  const rows = windows.map(({ id, usedPercent, resetsAt, kind, scope }) => [
    id,
    {
      used: thousandths(Math.max(usedPercent, 0)),
      resetsAt: resetsAt ?? undefined,
      kind,
      scope: scope ?? undefined,
    },
  ]);
  return {
    windows: Object.fromEntries(rows) as object,
    at: writtenAt,
    readAt,
    source,
    plan: plan ?? undefined,
    reached: reached ? { flag: reached.flag, resetsAt: reached.resetsAt ?? undefined } : undefined,
    overage: overage ?? undefined,
  };
}

/** One that proves nothing must change nothing: a number that is none would stop every reservation of the account. */
function usable({ windows, writtenAt, readAt }: MeterReading): boolean {
  const numbers = windows.flatMap((w) => [w.usedPercent, w.resetsAt ?? 0]);
  return windows.length > 0 && [writtenAt, readAt, ...numbers].every(Number.isFinite);
}
