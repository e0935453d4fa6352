import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Dark, DarkReason } from '#probes';
import { evaluateJson, keys, script } from '#store';
import { backOffMs } from './back-off.js';
import text from './lua/probe-turn.lua';
import type { SharedTime } from './shared-time.js';

const operation = script('probe-turn', text);

/** An answer takes five seconds at most; a process that died while it asked holds the others up this long. */
const LEASE_MS = 15_000;

/** Times by the shared clock, ms. */
export type SourceState = {
  okAt: number | null;
  /** When it may be asked again; null: now. */
  til: number | null;
  /** Why it gave no number when it was asked last; null: it gave one. */
  dark: { reason: DarkReason; detail: string; since: number } | null;
};

export type Turn =
  | { taken: true; ok(): Promise<void>; dark(why: Dark, stamp: string | null): Promise<void> }
  | { taken: false; why: 'asking' | 'resting' | 'backing-off'; til: number };

/**
 * Who may ask a vendor for an account's usage: one process of all, once per rest, less and less often while it fails.
 */
export interface Turns {
  /** @param stamp which login would be asked with */
  take(account: string, restMs: number, stamp: string): Promise<Turn>;
  /**
   * Notes that no source could be asked on this box (no login, …).
   * @param quietMs says nothing of it when another box had an answer within this time, ms
   */
  note(account: string, why: Pick<Dark, 'reason' | 'detail'>, quietMs: number): Promise<void>;
  /** A source that needs no vendor call (files of this box) gave a number. */
  found(account: string): Promise<void>;
  state(account: string): Promise<SourceState>;
}

export function openTurns(redis: Redis, time: SharedTime): Turns {
  type Reply = {
    taken: boolean;
    why: 'asking' | 'resting' | 'backing-off' | 'lost' | '';
    til: number;
    failures: number;
  };
  const call = async (account: string, argument: object): Promise<Reply> =>
    evaluateJson<Reply>(redis, operation, [keys.probe(account)], argument);
  return {
    async take(account, restMs, stamp) {
      const { now } = await time();
      const mine = randomUUID();
      const reply = await call(account, { op: 'take', now, mine, lease: LEASE_MS, rest: restMs, stamp });
      if (!reply.taken)
        return {
          taken: false,
          why: reply.why === 'asking' || reply.why === 'backing-off' ? reply.why : 'resting',
          til: reply.til,
        };
      const after = async (op: string, more: (at: number) => object): Promise<void> => {
        const at = (await time()).now;
        await call(account, { op, now: at, mine, ...more(at) });
      };
      return {
        taken: true,
        ok: () => after('ok', () => ({ til: now + restMs })),
        dark: (why, refused) =>
          after('dark', (at) => ({
            til: at + backOffMs(why, reply.failures),
            reason: why.reason,
            detail: why.detail,
            stamp: refused ?? undefined,
          })),
      };
    },
    async note(account, { reason, detail }, quietMs) {
      const { now } = await time();
      await call(account, { op: 'note', now, mine: '', quiet: quietMs, reason, detail });
    },
    async found(account) {
      await call(account, { op: 'found', now: (await time()).now, mine: '' });
    },
    async state(account) {
      const { okAt, til, reason, detail, since } = await redis.hgetall(keys.probe(account));
      const number = (value: string | undefined): number | null => (value === undefined ? null : Number(value));
      return {
        okAt: number(okAt),
        til: number(til),
        dark:
          reason === undefined
            ? null
            : { reason: reason as DarkReason, detail: detail ?? '', since: Number(since ?? 0) },
      };
    },
  };
}
