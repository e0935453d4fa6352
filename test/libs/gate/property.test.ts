import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { startChild } from '../queue/child.js';
import { crowd, CROWD_BOUNDS } from './many-clients.js';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

test('many clients with random costs, crashes and a meter that lags never pass a limit or a slot, and leave nothing', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const start = async (args: string[]) => startChild('random-client', args);
  const mix = { crashAsToken: 0.03, crashAsRun: 0.04, release: 0.07, renew: 0.17 };
  const { violations, problems, most, highest, stats, left } = await crowd(server, start, {
    seed,
    processes: 4,
    clients: 8,
    audits: 400,
    windows: 3,
    mix,
  });

  expect({ seed, violations, problems }).toEqual({ seed, violations: 0, problems: [] });
  // Without these the run would have shown nothing: both bounds were met, and crashes happened.
  const { limit, slots } = CROWD_BOUNDS;
  expect(most.inFlight).toBe(slots);
  expect(most.effective).toBeGreaterThan(limit - 3_000);
  const counted = (what: string): number => stats[what] ?? 0;
  expect(counted('slots')).toBeGreaterThan(0);
  expect(counted('limit')).toBeGreaterThan(0);
  expect(counted('renewed')).toBeGreaterThan(0);
  expect(counted('crashed before the bind') + counted('crashed while it ran')).toBeGreaterThan(0);
  expect(highest).toBeLessThanOrEqual(limit);
  expect(left).toMatchObject({ ids: [], inFlight: 0, recount: {}, indexes: [] });
  expect(Object.values(left.sums).filter((sum) => sum !== '0')).toEqual([]);
});
