import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Config } from '#contract';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { openDesk, type Desk } from './desk.js';

/** Live bindings, once `useDesk` was called: a Redis of the file's own, emptied for each test, and a desk at it. */
export let server: TestRedis;
export let redis: Redis;
export let desk: Desk;

export function useDesk(config: Config): void {
  beforeAll(async () => {
    server = await startRedis();
    redis = server.client();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    await redis.flushall();
    desk = openDesk(redis, config);
  });
  afterEach(() => desk.close());
}
