import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openGate, type Gate } from '#gate';
import type { Config } from '#contract';
import { auditGate } from '../../support/audit.js';
import { laneOf, testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';

let server: TestRedis;
let redis: Redis;
let config: Config;
let gate: Gate;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  config = testConfig({ slots: { account: 2, node: 8, dark: 8 } });
  gate = openGate(redis, config);
  const now = Date.now();
  await gate.read({
    account: 'codex',
    windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 10, resetsAt: now + 3_600_000, scope: null }],
    source: 'test',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
});

const reserve = async (token: string, node = 'test-node'): Promise<string> => {
  const admission = await gate.reserve(token, laneOf(config, 'codex'), 'codex@test-node', node);
  return admission.ok ? 'yes' : admission.reason;
};
const audit = async (): Promise<string[]> => (await auditGate(redis, 'codex')).problems;

test('a lent slot can be used by another run, keeps its points, and is taken back without admission', async () => {
  expect([await reserve('a'), await reserve('b'), await reserve('c')]).toEqual(['yes', 'yes', 'slots']);
  expect(await gate.lend('a', 'codex', true)).toBe(true);
  expect(await gate.lend('a', 'codex', true)).toBe(false);
  expect([await reserve('c'), await reserve('d')]).toEqual(['yes', 'slots']);
  const lent = await gate.snapshot('codex');
  expect([lent.inFlight, lent.windows[0]?.reserved]).toEqual([2, 3]);
  expect(lent.reservations.filter((one) => one.lent).map(({ id }) => id)).toEqual(['a']);
  expect(await audit()).toEqual([]);

  expect(await gate.lend('a', 'codex', false)).toBe(true);
  expect((await gate.snapshot('codex')).inFlight).toBe(3);
  await gate.giveBack('b', 'codex');
  expect(await reserve('d')).toBe('slots');
  await gate.giveBack('c', 'codex');
  expect(await reserve('d')).toBe('yes');
  expect(await audit()).toEqual([]);
});

test('a run that ends while its slot is lent frees no second slot', async () => {
  await reserve('a');
  await gate.lend('a', 'codex', true);
  await gate.giveBack('a', 'codex');
  expect((await gate.snapshot('codex')).inFlight).toBe(0);
  expect(await audit()).toEqual([]);
  expect(await gate.lend('a', 'codex', false)).toBe(false);
});

test('a node takes back every slot that it lent, and none of another node', async () => {
  await reserve('here');
  await reserve('there', 'other-node');
  for (const id of ['here', 'there']) await gate.lend(id, 'codex', true);
  expect((await gate.snapshot('codex')).inFlight).toBe(0);
  await gate.recall('test-node');
  expect((await gate.snapshot('codex')).reservations.filter((one) => one.lent).map(({ id }) => id)).toEqual(['there']);
  expect(await gate.recount('codex')).toEqual({});
  expect(await audit()).toEqual([]);
});

test('lending a slot wakes the workers that were refused', async () => {
  await reserve('a');
  await reserve('b');
  const woken: string[] = [];
  const ear = server.client();
  ear.on('message', (_channel: string, account: string) => woken.push(account));
  await ear.subscribe('cmo:wake');
  await reserve('c');
  await gate.lend('a', 'codex', true);
  await redis.ping();
  await ear.ping();
  expect(woken).toEqual(['codex']);
});
