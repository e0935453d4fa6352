import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { takeNodeLease, type LeaseOptions, type NodeLease } from '#daemon/node-lease';
import { keys } from '#store';
import { ownIdentity } from '#runner/process-identity';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import type { Redis } from 'ioredis';

let server: TestRedis;
let redis: Redis;
const held: NodeLease[] = [];
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(() => redis.flushall());
afterEach(async () => {
  for (const lease of held.splice(0)) await lease.release();
});

const KEY = keys.node('n');

async function take(change: Partial<LeaseOptions> = {}): Promise<Awaited<ReturnType<typeof takeNodeLease>>> {
  const taken = await takeNodeLease({
    redis,
    node: 'n',
    stateDir: '/s',
    leaseMs: 1_000,
    renewMs: 200,
    nonce: Math.random().toString(36),
    onLost: () => undefined,
    ...change,
  });
  if (taken.ok) held.push(taken.lease);
  return taken;
}

/** The lease as a process of this boot, or of another box, would have left it. */
function holder(change: object): string {
  return JSON.stringify({ ...ownIdentity(), nonce: 'other', stateDir: '/other', space: '', ...change });
}

test('a free lease is taken, renewed and given back', async () => {
  expect(await take()).toMatchObject({ ok: true });
  await sleep(1_500);
  expect(JSON.parse((await redis.get(KEY)) ?? '')).toMatchObject({ pid: process.pid, stateDir: '/s' });
  await held.pop()?.release();
  expect(await redis.exists(KEY)).toBe(0);
});

test('a living holder of this boot means refusal, and is named', async () => {
  await take();
  const second = await take({ stateDir: '/t' });
  expect(second).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_NODE_TAKEN', message: expect.stringContaining('/s') as string },
  });
});

test('a dead holder of this boot is replaced at once', async () => {
  const first = JSON.parse((await take().then(() => redis.get(KEY))) ?? '') as object;
  await held.pop()?.release();
  await redis.set(KEY, JSON.stringify({ ...first, ticks: 1 }), 'PX', 60_000);
  expect(await take()).toMatchObject({ ok: true });
});

test('a holder of another boot is waited for until its lease ends', async () => {
  await redis.set(KEY, holder({ bootId: 'another' }), 'PX', 600);
  const before = performance.now();
  expect(await take()).toMatchObject({ ok: true });
  expect(performance.now() - before).toBeGreaterThan(500);
});

test('a holder of another boot that renews lives, which means refusal', async () => {
  const renew = setInterval(() => void redis.set(KEY, holder({ bootId: 'another' }), 'PX', 1_000), 100);
  await redis.set(KEY, holder({ bootId: 'another' }), 'PX', 1_000);
  expect(await take()).toMatchObject({ ok: false, error: { code: 'CMO_E_NODE_TAKEN' } });
  clearInterval(renew);
});

test('a container of the same kernel is another box, though it has our boot id', async () => {
  await redis.set(KEY, holder({ pid: 4_194_303, space: 'pid:[1]' }), 'PX', 500);
  const before = performance.now();
  expect(await take()).toMatchObject({ ok: true });
  expect(performance.now() - before).toBeGreaterThan(400);
});

test('what cannot be read is waited for', async () => {
  await redis.set(KEY, 'no json', 'PX', 300);
  expect(await take()).toMatchObject({ ok: true });
});

test('a lease that Redis forgot is taken again; one that another took is lost', async () => {
  const lost: string[] = [];
  await take({ onLost: (by) => void lost.push(by) });
  await redis.del(KEY);
  await waitUntil(() => redis.exists(KEY), { what: 'the lease to be back' });
  expect(lost).toEqual([]);
  await redis.set(KEY, 'another', 'PX', 60_000);
  await waitUntil(() => lost.length > 0, { what: 'the loss to be noticed' });
  expect(lost).toEqual(['another']);
  await held.pop()?.release();
  expect(await redis.get(KEY)).toBe('another');
});
