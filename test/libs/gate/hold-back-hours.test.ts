import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Redis } from 'ioredis';
import { openGate } from '#gate';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { laneOf, testConfig } from '../../support/records.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

test('what a person holds back for these hours is refused to a batch and given to interactive work; another account has its own slots', async () => {
  const day = { from: 0, until: 0, days: [], account: 'codex', points: 20, slots: 0 };
  const config = testConfig({ holdBackHours: [day], accounts: [{ id: 'claude', slots: 1 }] });
  const gate = openGate(redis, config);
  const window = {
    id: 'five_hour',
    kind: 'five_hour' as const,
    usedPercent: 80,
    resetsAt: Date.now() + 3_600_000,
    scope: null,
  };
  for (const account of ['codex', 'claude'])
    await gate.read({
      account,
      windows: [window],
      source: 'test',
      writtenAt: Date.now(),
      readAt: Date.now(),
      plan: null,
    });
  const cost = { five_hour: 1000 };
  expect(await gate.look(laneOf(config, 'codex'), cost, 'batch')).toMatchObject({ ok: false, reason: 'hold-back' });
  expect(await gate.look(laneOf(config, 'codex'), cost, 'interactive')).toMatchObject({ ok: true });
  expect(await gate.look(laneOf(config, 'claude'), cost, 'batch')).toMatchObject({ ok: true });
  await gate.reserve('one', laneOf(config, 'claude'), 'claude@test-node', 'test-node');
  expect(await gate.look(laneOf(config, 'claude'), cost, 'batch')).toMatchObject({ ok: false, reason: 'slots' });
});
