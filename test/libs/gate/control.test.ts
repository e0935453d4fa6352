import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Config } from '#contract';
import { openControls, openGate, type Admission, type Controls, type Gate } from '#gate';
import { keys } from '#store';
import { auditGate } from '../../support/audit.js';
import { laneOf, testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { waitUntil } from '../../support/wait-until.js';

let server: TestRedis;
let redis: Redis;
let config: Config;
let gate: Gate;
let controls: Controls;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  config = testConfig({ slots: { account: 8, node: 8, dark: 2 } });
  gate = openGate(redis, config);
  controls = openControls(redis, config);
  await read('codex');
  await read('claude');
});

async function read(account: string): Promise<void> {
  const now = Date.now();
  await gate.read({
    account,
    windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 10, resetsAt: now + 3_600_000, scope: null }],
    source: 'test',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
}
let tokens = 0;
const reserve = (lane = 'codex', node = 'test-node'): Promise<Admission> =>
  gate.reserve(`t${++tokens}`, laneOf(config, lane), `${lane}@${node}`, node);
const said = async (lane = 'codex', node = 'test-node'): Promise<string> => {
  const answer = await reserve(lane, node);
  return answer.ok ? 'yes' : answer.reason;
};

test('a paused lane admits nothing and says why; the others do', async () => {
  await controls.pause('codex', 'I need it', null);
  expect(await reserve()).toMatchObject({ ok: false, reason: 'paused', window: 'I need it', til: null });
  expect(await said('claude')).toBe('yes');
  expect(await controls.resume('codex')).toBe(true);
  expect(await controls.resume('codex')).toBe(false);
  expect(await said()).toBe('yes');
});

test('of a pause of every lane and one of a single lane, the later end is reported', async () => {
  const soon = Date.now() + 60_000;
  await controls.pause('codex', 'the one', soon);
  await controls.pause(null, 'all of them', null);
  expect(await reserve()).toMatchObject({ reason: 'paused', window: 'all of them', til: null });
  expect(await said('claude')).toBe('paused');
  await controls.resume(null);
  const refusal = await reserve();
  expect(refusal).toMatchObject({ reason: 'paused', window: 'the one' });
  expect(Math.abs((refusal.ok ? 0 : (refusal.til ?? 0)) - soon)).toBeLessThan(1_000);
  expect(await said('claude')).toBe('yes');
});

test('a pause ends by itself at its time', async () => {
  await controls.pause('codex', 'for a moment', Date.now() + 300);
  expect(await said()).toBe('paused');
  await waitUntil(async () => (await said()) === 'yes');
  expect((await controls.read()).pauses).toEqual([]);
});

test('the policy sees a paused lane as closed, until its end', async () => {
  const until = Date.now() + 60_000;
  await controls.pause('codex', 'I need it', until);
  const { codex, claude } = await gate.facts(config.lanes, { codex: true, claude: true });
  expect(codex).toMatchObject({ hardBlocked: true, blockedBy: 'paused' });
  expect(Math.abs(Date.parse(codex?.nextResetAt ?? '') - until)).toBeLessThan(1_000);
  expect(claude?.hardBlocked).toBeUndefined();
});

test('a drained node is admitted nothing, on any lane; another is', async () => {
  await controls.drain('test-node', 'a new disk');
  expect(await reserve()).toMatchObject({ reason: 'drained', window: 'a new disk' });
  expect(await said('claude')).toBe('drained');
  expect(await said('codex', 'other')).toBe('yes');
  expect(await controls.undrain('test-node')).toBe(true);
  expect(await said()).toBe('yes');
});

test('slots set by hand count at once, up and down; once reset, the configured ones count again', async () => {
  await controls.setSlots('account', 'codex', 1);
  expect([await said(), await said()]).toEqual(['yes', 'slots']);
  await controls.setSlots('account', 'codex', 10);
  expect(await Promise.all(Array.from({ length: 10 }, () => said()))).toEqual([
    ...Array.from({ length: 9 }, () => 'yes'),
    'slots',
  ]);
  await controls.setSlots('account', 'codex', null);
  expect(await said()).toBe('slots');
  expect((await auditGate(redis, 'codex')).problems).toEqual([]);
});

test('slots of a lane bind beside those of its account, and 0 starts nothing', async () => {
  await controls.setSlots('lane', 'codex', 1);
  expect([await said(), await said(), await said('claude')]).toEqual(['yes', 'lane-slots', 'yes']);
  await controls.setSlots('lane', 'codex', 0);
  await controls.setSlots('account', 'claude', 0);
  expect([await said(), await said('claude')]).toEqual(['lane-slots', 'slots']);
});

test('slots of a dark meter are set for every account', async () => {
  await redis.del(keys.gate('codex').meter);
  expect([await said(), await said(), await said()]).toEqual(['yes', 'yes', 'dark']);
  await controls.setSlots('dark', '', 3);
  expect([await said(), await said()]).toEqual(['yes', 'dark']);
});

test('every change of a control wakes the workers that were refused', async () => {
  const listener = server.client();
  const heard: string[] = [];
  listener.on('message', (channel: string) => heard.push(channel));
  await listener.subscribe(keys.channels.wake, keys.channels.control);
  await controls.pause('codex', 'I need it', null);
  await controls.resume('codex');
  await waitUntil(
    () =>
      heard.filter((channel) => channel === keys.channels.wake).length === 4 &&
      heard.filter((channel) => channel === keys.channels.control).length === 2,
  );
});

test('a name from outside is a name, whatever it is called', async () => {
  await controls.setSlots('node', '__proto__', 3);
  await controls.setSlots('node', 'a:b', 4);
  expect((await controls.read()).slots).toEqual([
    { of: 'node', name: '__proto__', atOnce: 3 },
    { of: 'node', name: 'a:b', atOnce: 4 },
  ]);
});
