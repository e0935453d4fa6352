import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { keys } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { laneOf, testConfig, testRecord } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { failed, openDesk, rerouted, type Desk } from './desk.js';
import { lossySocket, type LossySocket } from './lossy-socket.js';

// ioredis sends a command again when its connection broke before the answer came, so every script meets itself.
const config = testConfig();
let server: TestRedis;
let way: LossySocket;
let redis: Redis;
/** The same, over the socket that loses answers. */
let lossy: Redis;
let desk: Desk;
let far: Desk;
beforeAll(async () => {
  server = await startRedis();
  way = await lossySocket(server.socket);
  redis = server.client();
  lossy = new Redis({ path: way.path, maxRetriesPerRequest: null, retryStrategy: () => 10 });
  lossy.on('error', () => undefined);
});
afterAll(async () => {
  lossy.disconnect();
  await way.close();
  await server.close();
});
beforeEach(async () => {
  await redis.flushall();
  await redis.script('FLUSH');
  desk = openDesk(redis, config);
  far = openDesk(lossy, config);
  await desk.meter(10);
});
afterEach(async () => {
  expect(await auditIndexes(redis)).toEqual([]);
  expect((await auditGate(redis, 'codex', { records: true })).problems).toEqual([]);
  await desk.close();
  await far.close();
});

/**
 * The act's first answer but `after` gets lost. The scripts are loaded
 * before, or the lost answer would be "I don't know this script".
 */
async function again<T>(act: () => Promise<T>, after = 0): Promise<T> {
  await lossy.ping();
  const lost = way.loseAnswer(after);
  const answer = await act();
  await lost;
  return answer;
}

test('a reserve reserves once', async () => {
  await desk.reserve('warm');
  await desk.gate.giveBack('warm', 'codex');
  await again(() => far.reserve('t'));
  expect((await auditGate(redis, 'codex')).ids).toEqual(['t']);
});

test('a start says yes, and the ticket is not dropped', async () => {
  await desk.run(await desk.submit());
  const record = await desk.submit();
  await desk.reserve('t');
  expect(await again(() => far.start(record, 't'))).toEqual({ answer: 'yes', cancelAsked: false });
  expect(await desk.read(record.id)).toMatchObject({ state: 'running', attempt: 1 });
  expect((await auditGate(redis, 'codex')).ids).toContain(`${record.id}.1`);
});

test('a delivery settles and ends once, and its receipt goes out once', async () => {
  const [one, other] = [await desk.run(await desk.submit()), await desk.run(await desk.submit())];
  await desk.deliver(one, { success: true });
  expect(await again(() => far.deliver(other, { next: failed, close: { til: null, reason: 'usage_limit' } }))).toEqual({
    answer: 'fenced',
    state: 'failed',
  });
  expect(await redis.xlen(keys.receipts)).toBe(2);
  expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ settling: 2 });
  expect(await redis.hget(keys.gate('codex').closed, 'n')).toBe('1');
});

test('a change is made once', async () => {
  const claude = laneOf(config, 'claude');
  const [one, other] = [await desk.submit(), await desk.submit()];
  await desk.transitions.change(one, rerouted(one, claude));
  expect(await again(() => far.transitions.change(other, rerouted(other, claude)))).toBe(false);
  expect(await desk.read(other.id)).toMatchObject({ lane: 'claude', attempt: 2 });
});

test('a cancel cancels', async () => {
  const [one, other] = [await desk.submit(), await desk.submit()];
  await desk.queue.cancel(one.id);
  expect(await again(() => far.queue.cancel(other.id))).toMatchObject({ state: 'cancelled' });
  expect(await desk.read(other.id)).toMatchObject({ state: 'cancelled' });
});

test.each([
  ['record', 0],
  ['ticket', 1],
])('a submit whose %s got no answer stores the dispatch once, with its ticket', async (_, after) => {
  await desk.submit();
  const record = testRecord(config);
  const [stored] = await again(
    () => far.queue.submit([{ record, blobs: { prompt: 'p', schema: null, env: '{}' } }]),
    after,
  );
  expect(stored).toMatchObject({ id: record.id, state: 'queued' });
  expect(await desk.records.counts()).toMatchObject({ queued: 2 });
  expect(await desk.tickets.exists(record)).toBe(true);
  expect(await desk.records.blob(record.id, 'prompt')).toBe('p');
});

test('a reading, a renewal and a token given back come to the same', async () => {
  const running = await desk.run(await desk.submit());
  const renewed = {
    dispatch: running.id,
    attempt: 1,
    lane: laneOf(config, 'codex'),
    node: config.nodeId,
    class: 'normal',
    project: 'p',
    cost: running.cost,
    ttlMs: 1_000,
  };
  await desk.gate.renew(renewed);
  expect(await again(() => far.gate.renew(renewed))).toBe('renewed');
  expect(await again(() => far.meter(20))).toBe(true);
  await desk.reserve('t');
  await desk.gate.giveBack('none', 'codex');
  await again(() => far.gate.giveBack('t', 'codex'));
  expect((await auditGate(redis, 'codex')).ids).toEqual([`${running.id}.1`]);
});
