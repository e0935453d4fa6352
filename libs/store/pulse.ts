import type { Redis } from 'ioredis';

/**
 * Whether Redis answers, found out by asking: a connection that looks fine may lead to a server that was stopped, or to
 * a box that is gone. One question is under way at most, and while Redis is away it waits with everything else.
 *
 *   answers ──connection closed, no answer for patienceMs, or "busy with a script"──▶ away ──an answer──▶ answers
 *      └──no answer for HALF_OPEN_MS on a connection that looks fine: it is made anew (what is in flight is sent again)
 */
export interface Pulse {
  /** How long it has answered on end, ms; 0 while it is away. */
  answersMs(): number;
  /** How long it has been away, ms; null: it answers. */
  awayMs(): number | null;
  stop(): void;
}

const HALF_OPEN_MS = 15_000;
const STOPPED_MS = 1_000;

/** It says that it does nothing for anybody now. Any other refusal is an answer all the same. */
function isShut(error: unknown): boolean {
  return error instanceof Error && /^(BUSY|LOADING|MASTERDOWN) /.test(error.message);
}

export function takePulse(
  redis: Redis,
  { everyMs = 2_000, patienceMs = 2_000, halfOpenMs = HALF_OPEN_MS } = {},
): Pulse {
  const now = (): number => performance.now();
  let since = now();
  let away = redis.status !== 'ready';
  let askedAt: number | null = null;
  let stopped = false;
  const period = Math.min(everyMs, patienceMs);
  let lookedAt = now();
  const turn = (isAway: boolean): void => {
    if (away === isAway) return;
    away = isAway;
    since = now();
  };
  const closed = (): void => turn(true);
  const ask = (): void => {
    // This process was stopped and goes on: the answer may have been here for long, unread.
    const wasStopped = now() - lookedAt > period + STOPPED_MS;
    lookedAt = now();
    if (wasStopped && askedAt !== null) askedAt = lookedAt;
    if (askedAt !== null) {
      const waited = now() - askedAt;
      if (waited >= patienceMs) turn(true);
      if (waited >= halfOpenMs && redis.status === 'ready') {
        askedAt = now();
        redis.disconnect(true);
      }
      return;
    }
    askedAt = now();
    redis.ping().then(
      () => {
        askedAt = null;
        if (!stopped) turn(false);
      },
      (error: unknown) => {
        askedAt = null;
        if (!stopped && isShut(error)) turn(true);
      },
    );
  };
  redis.on('close', closed);
  redis.on('ready', ask);
  const timer = setInterval(ask, period);
  ask();
  return {
    answersMs: () => (away ? 0 : now() - since),
    awayMs: () => (away ? now() - since : null),
    stop() {
      stopped = true;
      clearInterval(timer);
      redis.off('close', closed);
      redis.off('ready', ask);
    },
  };
}
