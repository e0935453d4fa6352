import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { gateKeys, keys } from '#store';
import { openDesk, type Desk } from '../libs/queue/desk.js';
import { auditGate } from './audit.js';
import { testConfig } from './records.js';
import { startRedis, type TestRedis } from './redis.js';

/** An auditor that finds nothing proves something only if it would have found it. */
let server: TestRedis;
let redis: Redis;
let desk: Desk;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  desk = openDesk(redis, testConfig());
});
afterAll(async () => {
  await desk.close();
  await server.close();
});

const [meter, reservations, leases, sums, closed] = gateKeys('codex');
/** Three runs of a point each on a window that stands at 91.5: half a point is left. */
beforeEach(async () => {
  await redis.flushall();
  await desk.meter(91.5);
  for (let i = 0; i < 3; i++) await desk.run(await desk.submit());
});

const found = async (): Promise<string[]> =>
  (await auditGate(redis, 'codex', { limit: 95_000, slots: 3, laneSlots: 3, records: true })).problems;
const some = async (): Promise<string> => (await redis.hkeys(reservations))[0] ?? '';

test('a gate that keeps its books has no problems', async () => {
  expect(await auditGate(redis, 'codex', { limit: 95_000, slots: 3, laneSlots: 3, records: true })).toMatchObject({
    problems: [],
    inFlight: 3,
    effective: 94_500,
  });
});

const breaches: [string, () => Promise<unknown>, RegExp][] = [
  [
    'a reservation made behind its back',
    () =>
      redis.hset(
        reservations,
        'ghost',
        JSON.stringify({ st: 'token', cost: { five_hour: 1 }, lane: 'codex', node: 'n' }),
      ),
    /counts 3 for inflight, not 4/,
  ],
  [
    'one taken away behind its back',
    async () => redis.hdel(reservations, await some()),
    /has a lease and no reservation/,
  ],
  ['a lease that is lost', async () => redis.zrem(leases, await some()), /bound and has no lease/],
  [
    'a sum that is off by a thousandth',
    () => redis.hincrby(sums, 'w:five_hour', -1),
    /counts 2999 for w:five_hour, not 3000/,
  ],
  [
    'a window over its limit',
    () => redis.hset(meter, 'windows', JSON.stringify({ five_hour: { used: 92_001 } })),
    /five_hour stands at 95001 of 95000/,
  ],
  [
    'a slot too many',
    () => redis.hset(reservations, 'ghost', JSON.stringify({ st: 'bound', cost: {}, lane: 'codex' })),
    /4 in flight of 3/,
  ],
  [
    'a run that its record knows nothing of',
    async () => redis.hset(keys.record((await some()).replace(/\.1$/, '')), 'state', 'queued'),
    /bound and its record says queued/,
  ],
  ['a canary that is gone', () => redis.hset(closed, 'holder', 'nobody'), /the canary nobody is gone/],
];
test.each(breaches)('%s is found', async (_, breach, says) => {
  await breach();
  expect((await found()).join('\n')).toMatch(says);
});
