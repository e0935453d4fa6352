import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { keys } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { laneOf, testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { sleep } from '../../support/wait-until.js';
import { failed, openDesk, rerouted, type Desk } from '../queue/desk.js';

/** Bounds far apart, so that a test can tell them; none of them is waited for. */
const BOUNDS = [10_000, 20_000, 40_000];
const config = testConfig({ timing: { refusalMs: BOUNDS } });
let server: TestRedis;
let redis: Redis;
let desk: Desk;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  desk = openDesk(redis, config);
  await desk.meter(10);
});
afterEach(async () => {
  expect(await auditIndexes(redis)).toEqual([]);
  expect((await auditGate(redis, 'codex', { records: true })).problems).toEqual([]);
  await desk.close();
});

const runs = async (): Promise<DispatchRecord> => desk.run(await desk.submit());
const refused = (record: DispatchRecord, til: number | null = null) =>
  desk.deliver(record, { next: failed, close: { til, reason: 'usage_limit' } });
const answers = (record: DispatchRecord) => desk.deliver(record, { success: true });
const closed = async () => (await desk.gate.snapshot('codex')).closed;
/** How long it is closed for from when it was closed, ms. */
const bound = async (): Promise<number> => {
  const { til, at } = await redis.hgetall(keys.gate('codex').closed);
  return Number(til) - Number(at);
};
/** As if that time had passed. */
const untilPast = () => redis.hset(keys.gate('codex').closed, 'til', Date.now() - 1);

describe('a refusal', () => {
  test('closes the account until the reset that it stated', async () => {
    const til = Date.now() + 7_200_000;
    await refused(await runs(), til);
    expect(await closed()).toEqual({ until: til, number: 1, reason: 'usage_limit', canary: null });
    await expect(desk.reserve('t')).rejects.toThrow('closed');
    expect((await desk.gate.facts(config.lanes, { codex: true }))['codex']).toMatchObject({
      hardBlocked: true,
      blockedBy: 'usage_limit',
      nextResetAt: new Date(til).toISOString(),
    });
  });

  test('that states no reset, or one that has passed, closes it for the first bound', async () => {
    await refused(await runs());
    expect(await bound()).toBe(BOUNDS[0]);
    await redis.del(keys.gate('codex').closed);
    await refused(await runs(), Date.now() - 5_000);
    expect(await bound()).toBe(BOUNDS[0]);
  });

  test('that is met by several runs at once closes it once', async () => {
    const [one, two, three] = [await runs(), await runs(), await runs()];
    await refused(one);
    const first = await closed();
    await sleep(5);
    await refused(two);
    expect(await closed()).toEqual(first);
    const til = Date.now() + 7_200_000;
    await refused(three, til);
    expect(await closed()).toMatchObject({ until: til });
  });

  test('delivered twice closes once', async () => {
    const record = await runs();
    await refused(record);
    await untilPast();
    expect(await refused(record)).toMatchObject({ answer: 'fenced' });
    expect(await closed()).toMatchObject({ canary: 'waiting' });
  });

  test('closes although the lease of its run had lapsed', async () => {
    const record = await desk.submit();
    await desk.reserve('t');
    await desk.start(record, 't', { ttlMs: 20 });
    await sleep(40);
    await desk.gate.recount('codex');
    await refused(await desk.read(record.id));
    expect(await closed()).toMatchObject({ reason: 'usage_limit' });
  });

  test('of a fenced attempt still closes the account, because the vendor refused it', async () => {
    const record = await runs();
    await desk.deliver(record, { node: 'another-node', close: { til: null, reason: 'rate_limit' } });
    expect(await closed()).toMatchObject({ reason: 'rate_limit' });
  });
});

describe('after the time it is closed for', () => {
  test('one canary goes first, and only one', async () => {
    await refused(await runs());
    await untilPast();
    await desk.reserve('canary');
    expect(await closed()).toMatchObject({ canary: 'flying' });
    await expect(desk.reserve('second')).rejects.toThrow('canary');
    await desk.start(await desk.submit(), 'canary');
    await expect(desk.reserve('third')).rejects.toThrow('canary');
    expect(await closed()).toMatchObject({ canary: 'flying' });
  });

  test('its success opens the account', async () => {
    await refused(await runs());
    await untilPast();
    await answers(await runs());
    expect(await closed()).toBeNull();
    await desk.reserve('one');
    await desk.reserve('two');
  });

  test('the success of a run that began before the refusal opens nothing', async () => {
    const older = await runs();
    await refused(await runs());
    await answers(older);
    expect(await closed()).toMatchObject({ canary: null });
  });

  test('nor does an older success open it while the canary flies', async () => {
    const older = await runs();
    await refused(await runs());
    await untilPast();
    await runs();
    await answers(older);
    expect(await closed()).toMatchObject({ canary: 'flying' });
  });

  test('a canary that is refused closes it for the next bound, and the last bound stays', async () => {
    await refused(await runs());
    const seen = [await bound()];
    for (let i = 0; i < 3; i++) {
      await untilPast();
      await refused(await runs());
      seen.push(await bound());
    }
    expect(seen).toEqual([10_000, 20_000, 40_000, 40_000]);
  });

  test('an opening begins the bounds again', async () => {
    await refused(await runs());
    await untilPast();
    await refused(await runs());
    await untilPast();
    await answers(await runs());
    await refused(await runs());
    expect(await bound()).toBe(BOUNDS[0]);
  });

  test('a canary that fails for another reason leaves its place to the next', async () => {
    await refused(await runs());
    await untilPast();
    await desk.deliver(await runs(), { next: failed });
    expect(await closed()).toMatchObject({ canary: 'waiting' });
    await answers(await runs());
    expect(await closed()).toBeNull();
  });

  test('a refusal of an older run takes the place from the flying canary: its success opens nothing', async () => {
    const older = await runs();
    await refused(await runs());
    await untilPast();
    const canary = await runs();
    await refused(older);
    expect(await closed()).toMatchObject({ canary: null });
    await answers(canary);
    expect(await closed()).toMatchObject({ canary: null });
  });

  test('a token that was the canary is none after a refusal between fetch and bind', async () => {
    const older = await runs();
    await refused(await runs());
    await untilPast();
    await desk.reserve('canary');
    await refused(older);
    const record = await desk.submit();
    await desk.start(record, 'canary');
    await answers(await desk.read(record.id));
    expect(await closed()).toMatchObject({ canary: null });
  });
});

describe('the account never waits for a canary that is gone:', () => {
  beforeEach(async () => {
    await refused(await runs());
    await untilPast();
    await desk.reserve('ghost');
  });
  afterEach(async () => {
    expect(await closed()).toMatchObject({ canary: 'waiting' });
    await desk.reserve('next');
  });

  test('a fetch that found nothing', () => desk.gate.giveBack('ghost', 'codex'));

  test('a stale ticket', async () => {
    const record = await desk.submit();
    await desk.queue.cancel(record.id);
    expect(await desk.start(record, 'ghost')).toMatchObject({ answer: 'stale' });
  });

  test('a worker that died before it bound', async () => {
    await redis.zadd(keys.gate('codex').leases, 1, 'ghost');
    await desk.gate.recount('codex');
  });

  test('an attempt that started nothing', async () => {
    const record = await desk.submit();
    await desk.start(record, 'ghost');
    expect(await desk.transitions.unstart(record, 1, config.nodeId)).toBe(true);
  });

  test('a run whose lease lapsed', async () => {
    const record = await desk.submit();
    await desk.start(record, 'ghost', { ttlMs: 1 });
    await sleep(5);
    await desk.gate.recount('codex');
  });

  test('a run that was cancelled', async () => {
    const record = await desk.submit();
    await desk.start(record, 'ghost');
    await desk.queue.cancel(record.id);
    await desk.deliver(record, { next: rerouted(record, laneOf(config, 'claude')) });
  });
});
