import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attemptId } from '#contract';
import { keys, queueName } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { startChild } from './child.js';
import { openDesk } from './desk.js';
import { soon } from './overhear.js';
import { openStation } from './station.js';

const config = testConfig({
  slots: { account: 2, node: 8, dark: 2 },
  timing: { lockMs: 400, stalledMs: 200, tokenLeaseMs: 600, wakeFallbackMs: 300 },
});
let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

test('a worker killed between fetch and bind: its tickets come back and are started once, its tokens lapse', async () => {
  const desk = openDesk(redis, config);
  await desk.meter(10);
  const records = [await desk.submit(), await desk.submit(), await desk.submit()];
  const child = await startChild('hanging-worker', [server.socket, JSON.stringify(config)]);
  // Both places of the account are held by tokens of the worker that will be gone.
  await soon(async () => (await redis.llen('fetched')) === 2, 'two tickets to be fetched');
  expect((await auditGate(redis, 'codex', { slots: 2 })).inFlight).toBe(2);
  await child.kill();

  const one = await openStation(server.client(), { config });
  for (let n = 1; n <= records.length; n++) {
    await soon(() => one.started.length >= n, `${n} to start`);
    expect((await auditGate(redis, 'codex', { slots: 2, records: true })).problems).toEqual([]);
    for (const { id } of records) {
      const record = await desk.read(id);
      if (record.state === 'running') await desk.deliver(record, { success: true });
    }
  }
  expect([...one.started].sort()).toEqual(records.map(({ id }) => attemptId(id, 1)).sort());
  const queue = queueName('codex', config.nodeId);
  await soon(async () => (await redis.llen(`${keys.bull}:${queue}:active`)) === 0, 'every ticket to be gone');
  expect(await auditIndexes(redis)).toEqual([]);
  await one.close();
  await desk.close();
});
