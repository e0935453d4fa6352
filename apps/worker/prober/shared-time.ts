import type { Redis } from 'ioredis';

/**
 * The one clock that all boxes share: Redis'. `offsetMs` is how far it is ahead of this box's. Meters are read in it,
 * so that five minutes of skew between boxes change nothing: neither which run a reading settles, nor which window has
 * reset.
 */
export type SharedTime = () => Promise<{ now: number; offsetMs: number }>;

/** Never ahead of Redis' real time: a reading dated too late would settle spending that it can't have seen. */
export function sharedTime(redis: Redis, clock: () => number): SharedTime {
  return async () => {
    const [seconds, micros] = await redis.time();
    const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    return { now, offsetMs: now - clock() };
  };
}
