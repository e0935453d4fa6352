import type { Redis } from 'ioredis';
import {
  accountSlots,
  heldBackAt,
  type DayTime,
  type Config,
  type CostVector,
  type DispatchClass,
  type LaneConfig,
  type LanesFacts,
  type LeftLane,
  type MeterReading,
} from '#contract';
import { evaluate, evaluateJson, gateKeys, keys } from '#store';
import { laneFacts } from './facts.js';
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
  /** Differences that the sums had against the raw reservations; mended. */
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
  const { timing } = config;
  const limit = thousandths(config.pressure.exhausted);
  const ceilingOf = (account: string): number => settleCeiling(config, account);
  const wakeOf = (account: string): object => ({ account, channel: keys.channels.wake, ceiling: ceilingOf(account) });
  // Asked anew each time: what a person keeps for some hours begins and ends while work waits.
  const held = (account: string): { slots: number; points: number } => heldBackAt(config, account, dayTime(new Date()));
  const rules = (lane: LaneConfig): object => ({
    ...wakeOf(lane.account),
    lane: lane.id,
    limit,
    slots: accountSlots(config, lane.account),
    laneSlots: lane.slots ?? undefined,
    darkSlots: config.slots.dark,
    darkAfter: DARK_AFTER_MS,
    holdSlots: held(lane.account).slots,
    holdPoints: thousandths(held(lane.account).points),
    ttl: timing.tokenLeaseMs,
    grace: timing.restartGraceMs,
  });
  type Reply =
    | { ok: true; cost: CostVector; canary: boolean }
    | { ok: false; reason: RefusalReason; window?: string; til?: number; bare: boolean; event?: WindowEvent };
  const admission = (reply: Reply): Admission =>
    reply.ok
      ? reply
      : {
          ok: false,
          reason: reply.reason,
          window: reply.window ?? null,
          til: reply.til ?? null,
          bare: reply.bare,
          event: reply.event ?? null,
        };

  const snapshot = (account: string): Promise<AccountSnapshot> => readSnapshot(redis, account, wakeOf(account));

  return {
    async reserve(token, lane, queue, node) {
      const costs = Object.fromEntries(Object.keys(lane.models).map((tier) => [tier, costsOf(lane, tier)]));
      const names = [...gateKeys(lane.account), keys.waiting(queue), keys.control];
      return admission(
        await evaluateJson<Reply>(redis, operations.reserve, names, {
          id: token,
          node,
          project: '',
          costs,
          ...rules(lane),
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
      for (const account of this.accounts())
        await evaluate(redis, operations.lend, gateKeys(account), {
          account,
          channel: keys.channels.wake,
          node,
          lent: false,
        });
    },

    async look(lane, cost, of, node = '') {
      const names = [...gateKeys(lane.account), keys.waiting(''), keys.control];
      return admission(
        await evaluateJson<Reply>(redis, operations.reserve, names, {
          id: 'look',
          node,
          cost,
          class: of,
          dry: true,
          ...rules(lane),
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
        ceiling: ceilingOf(lane.account),
      };
      return (await evaluate(redis, operations.renew, names, argument)) as 'renewed' | 'made' | 'not-running';
    },

    async read(reading, partial = false) {
      if (!usable(reading)) return false;
      const windows = Object.fromEntries(
        reading.windows.map((w) => [
          w.id,
          {
            used: thousandths(Math.max(w.usedPercent, 0)),
            resetsAt: w.resetsAt ?? undefined,
            kind: w.kind,
            scope: w.scope ?? undefined,
          },
        ]),
      );
      const { account, source, reached, overage } = reading;
      const said = {
        plan: reading.plan ?? undefined,
        reached: reached ? { flag: reached.flag, resetsAt: reached.resetsAt ?? undefined } : undefined,
        overage: overage ?? undefined,
      };
      const argument = {
        ...wakeOf(account),
        windows,
        at: reading.writtenAt,
        readAt: reading.readAt,
        source,
        partial,
        ...said,
      };
      return (await evaluate(redis, operations.meter, gateKeys(account), argument)) === 1;
    },

    snapshot,

    async facts(lanes, installed) {
      const accounts = [...new Set(lanes.map((lane) => lane.account))];
      const pictures = new Map(
        await Promise.all(accounts.map(async (account) => [account, await snapshot(account)] as const)),
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
      return evaluateJson<Record<string, number>>(redis, operations.recount, gateKeys(account), wakeOf(account));
    },

    async asserted() {
      const [[seconds, micros], saved] = await Promise.all([redis.time(), redis.lastsave()]);
      const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
      for (const account of this.accounts()) {
        const { flags } = keys.gate(account);
        // Once per start of Redis: each write would stand in its file for ever.
        if (Number((await redis.hget(flags, 'asserted')) ?? 0) < saved * 1000) await redis.hset(flags, 'asserted', now);
      }
    },

    accounts: () => [...new Set(config.lanes.map((lane) => lane.account))],
  };
}

/**
 * How long ended points are called settling before they are called estimated, ms. Where an idle probe exists a younger
 * reading is sure to come: three of its periods; else the long ceiling.
 */
export function settleCeiling(config: Config, account: string): number {
  const lane = config.lanes.find((l) => l.account === account);
  return lane?.kind === 'claude'
    ? Math.min(3 * lane.freshnessMs, config.timing.settleCeilingMs)
    : config.timing.settleCeilingMs;
}

/** By this box's own clock, which is the person's. */
function dayTime(date: Date): DayTime {
  return { minutes: date.getHours() * 60 + date.getMinutes(), weekday: date.getDay() };
}

/** A reading older than this, although runs of ours ended since, is dark (rulings §10). */
const DARK_AFTER_MS = 60 * 60_000;

/** One that proves nothing must change nothing: a number that is none would stop every reservation of the account. */
function usable({ windows, writtenAt, readAt }: MeterReading): boolean {
  const numbers = windows.flatMap((w) => [w.usedPercent, w.resetsAt ?? 0]);
  return windows.length > 0 && [writtenAt, readAt, ...numbers].every(Number.isFinite);
}
