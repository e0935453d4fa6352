import type { Redis } from 'ioredis';

/**
 * How far Redis' clock is ahead of this box's, ms. Leases and ends are by Redis' time, readings by the box that read
 * them.
 */
export async function redisOffset(redis: Redis, clock: () => number): Promise<number> {
  const before = clock();
  const [seconds, micros] = await redis.time();
  const after = clock();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - Math.round((before + after) / 2);
}
