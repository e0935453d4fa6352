import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { laneCost, openGate } from '#gate';
import type { MeterReading, MeterWindow } from '#contract';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { laneOf, testConfig } from '../../support/records.js';
import { sleep } from '../../support/wait-until.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
});

const config = testConfig();
const lane = laneOf(config, 'claude');
const window = (id: string, usedPercent: number, scope: string | null = null): MeterWindow => ({
  id,
  kind: id.startsWith('weekly') ? 'weekly' : 'five_hour',
  usedPercent,
  resetsAt: Date.now() + 3_600_000,
  scope,
});
const reading = (windows: MeterWindow[], change: Partial<MeterReading> = {}): MeterReading => ({
  account: 'claude',
  windows,
  source: 'test',
  writtenAt: Date.now(),
  readAt: Date.now(),
  plan: null,
  ...change,
});

test("the vendor's word that the account is closed refuses whatever the percents say, until its time", async () => {
  const gate = openGate(redis, config);
  const til = Date.now() + 700;
  await gate.read(reading([window('five_hour', 40)], { reached: { flag: 'rejected', resetsAt: til } }));
  expect(await gate.reserve('t', lane, 'claude@n', 'n')).toMatchObject({
    ok: false,
    reason: 'closed',
    window: 'rejected',
    til,
    bare: true,
  });
  expect((await gate.snapshot('claude')).reading?.reached).toEqual({ flag: 'rejected', resetsAt: til });
  expect((await gate.facts([lane], { claude: true }))['claude']).toMatchObject({
    hardBlocked: true,
    worstPercent: 40,
    nextResetAt: new Date(til).toISOString(),
  });
  await sleep(750);
  expect(await gate.reserve('t', lane, 'claude@n', 'n')).toMatchObject({ ok: true });
  expect((await gate.facts([lane], { claude: true }))['claude']?.hardBlocked).toBeUndefined();
});

test('a younger reading without that word takes it back', async () => {
  const gate = openGate(redis, config);
  await gate.read(reading([window('five_hour', 40)], { reached: { flag: 'rejected', resetsAt: Date.now() + 60_000 } }));
  await gate.read(reading([window('five_hour', 41)]), true);
  expect(await gate.reserve('t', lane, 'claude@n', 'n')).toMatchObject({ ok: true });
});

test('money beside the subscription is kept for readers and makes no room', async () => {
  const gate = openGate(redis, config);
  const overage = { enabled: true, inUse: null, unlimited: false, balance: '9.5', usedPercent: null };
  await gate.read(reading([window('five_hour', 95)], { overage }));
  expect((await gate.snapshot('claude')).reading?.overage).toEqual(overage);
  expect(await gate.reserve('t', lane, 'claude@n', 'n')).toMatchObject({ ok: false, reason: 'limit' });
  await gate.read(reading([window('five_hour', 95)]), true);
  expect((await gate.snapshot('claude')).reading?.overage).toEqual(overage);
  await gate.read(reading([window('five_hour', 95)]));
  expect((await gate.snapshot('claude')).reading?.overage).toBeNull();
});

test('a window scoped to some models binds only the tiers whose cost names it, and binding to another tier gives its points back', async () => {
  const gate = openGate(redis, config, (of, tier) => ({
    ...laneCost(of),
    'weekly:opus': tier === 'frontier' ? 500 : 0,
  }));
  await gate.read(reading([window('five_hour', 10), window('weekly:opus', 94.8, 'opus')]));
  await redis.hset('cmo:waiting:claude@n', 'tier:frontier', '1');
  expect(await gate.reserve('dear', lane, 'claude@n', 'n')).toMatchObject({
    ok: false,
    reason: 'limit',
    window: 'weekly:opus',
  });
  await redis.hset('cmo:waiting:claude@n', 'tier:frontier', '0', 'tier:balanced', '1');
  expect(await gate.reserve('other', lane, 'claude@n', 'n')).toMatchObject({ ok: true });
  expect((await gate.snapshot('claude')).windows.find(({ id }) => id === 'weekly:opus')).toMatchObject({
    reserved: 0,
    effective: 94.8,
  });
});
