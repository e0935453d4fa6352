import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorBody, type Config, type DispatchRecord } from '#contract';
import { openWakes } from '#gate';
import { keys, queueName } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { laneOf, testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import { openDesk, rerouted, retrying, type Desk } from './desk.js';

let server: TestRedis;
let redis: Redis;
let desk: Desk;
let config: Config;
const desks: Desk[] = [];
const use = (changed: Config): Desk => {
  config = changed;
  desk = openDesk(redis, changed);
  desks.push(desk);
  return desk;
};
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  use(testConfig());
  await desk.meter(10);
});
afterEach(async () => {
  // Whatever a test did, the indexes and the sums must agree with the records and the reservations.
  expect(await auditIndexes(redis)).toEqual([]);
  for (const account of ['codex', 'claude'])
    expect((await auditGate(redis, account, { records: true })).problems).toEqual([]);
  await Promise.all(desks.splice(0).map((one) => one.close()));
});

const ids = async (): Promise<string[]> => (await auditGate(redis, 'codex')).ids;
/** Accounts woken while `act` runs. */
async function wakesOf(act: () => Promise<unknown>): Promise<string[]> {
  const listener = server.client();
  const heard: string[] = [];
  listener.on('message', (_channel, account) => heard.push(account));
  await listener.subscribe(keys.channels.wake);
  await act();
  // Messages come in order: what was published by `act` lies before this one.
  await redis.publish(keys.channels.wake, 'end');
  await waitUntil(() => heard.includes('end'));
  listener.disconnect();
  return heard.slice(0, -1);
}
/** Somebody is refused, so that the next room made is told. */
const refuseSomebody = async (): Promise<void> => {
  await redis.hset(keys.gate('codex').flags, 'refused', '1');
};

describe('start', () => {
  test('sets running here and turns the reservation of the token into the one of the attempt', async () => {
    const record = await desk.submit();
    await desk.reserve('t');
    expect(await desk.start(record, 't')).toEqual({ answer: 'yes', cancelAsked: false });
    expect(await desk.read(record.id)).toMatchObject({
      state: 'running',
      attempt: 1,
      node: config.nodeId,
      startedAt: expect.any(Number),
    });
    expect(await ids()).toEqual([`${record.id}.1`]);
    expect(await redis.smembers(keys.running(config.nodeId))).toEqual([record.id]);
  });

  test('sent twice with the same nonce, because its answer was lost, says yes twice and reserves once', async () => {
    const record = await desk.submit();
    await desk.reserve('t');
    await desk.start(record, 't');
    await desk.queue.cancel(record.id);
    expect(await desk.start(record, 't')).toEqual({ answer: 'yes', cancelAsked: true });
    expect(await ids()).toEqual([`${record.id}.1`]);
  });

  test('of a ticket that another worker has opened already gives the token back', async () => {
    const record = await desk.submit();
    await desk.run(record);
    await desk.reserve('late');
    expect(await desk.start(record, 'late')).toEqual({ answer: 'stale', state: 'running' });
    expect(await ids()).toEqual([`${record.id}.1`]);
  });

  test.each([
    ['of another attempt', (record: DispatchRecord) => ({ ...record, attempt: 2 })],
    ['of another lane', (record: DispatchRecord) => ({ ...record, lane: 'claude' })],
    ['of a dispatch that is gone', (record: DispatchRecord) => ({ ...record, id: `${record.id.slice(0, -1)}Z` })],
  ])('%s is stale: the token is given back and the refused are woken', async (_, change) => {
    const record = await desk.submit();
    const token = change(record).lane === 'claude' ? 'claude' : 'codex';
    await desk.meter(10, Date.now(), 'claude');
    await desk.reserve('t', token);
    await redis.hset(keys.gate(token).flags, 'refused', '1');
    const woken = await wakesOf(async () =>
      expect(await desk.start(change(record), 't')).toMatchObject({ answer: 'stale' }),
    );
    expect(woken).toEqual([token]);
    expect((await auditGate(redis, token)).ids).toEqual([]);
    expect(await desk.read(record.id)).toMatchObject({ state: 'queued' });
  });

  test('of a retry waits until it is due', async () => {
    const first = await desk.run(await desk.submit());
    await desk.deliver(first, { next: retrying(first, Date.now() + 300) });
    const record = await desk.read(first.id);
    await desk.reserve('early');
    expect(await desk.start(record, 'early')).toEqual({ answer: 'stale', state: 'retrying' });
    await sleep(320);
    await desk.reserve('due');
    expect(await desk.start(record, 'due')).toMatchObject({ answer: 'yes' });
  });

  test('says lapsed, and changes nothing, when the token was swept away while its worker slept', async () => {
    use(testConfig({ timing: { tokenLeaseMs: 40 } }));
    const record = await desk.submit();
    await desk.reserve('t');
    await sleep(60);
    await desk.gate.recount('codex');
    expect(await desk.start(record, 't')).toEqual({ answer: 'lapsed' });
    expect(await desk.read(record.id)).toMatchObject({ state: 'queued', node: null });
  });

  test('lowers the cost to what the dispatch costs, and wakes the workers that were refused', async () => {
    await desk.submit();
    const record = await desk.submit();
    await desk.reserve('t');
    await refuseSomebody();
    const woken = await wakesOf(() =>
      desk.start(record, 't', { cost: { five_hour: 400, weekly: 200, monthly: 200, other: 1000 } }),
    );
    expect(woken).toEqual(['codex']);
    expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ reserved: 0.4 });
  });

  test('never raises the cost over what was admitted', async () => {
    const record = await desk.submit();
    await desk.reserve('t');
    await desk.start(record, 't', { cost: { five_hour: 9000, weekly: 200, monthly: 200, other: 1000 } });
    expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ reserved: 1 });
  });

  test('counts a fraction of a thousandth as a whole one', async () => {
    const record = await desk.submit();
    await desk.reserve('t');
    expect(await desk.start(record, 't', { cost: { five_hour: 399.5, weekly: 0.1 } })).toMatchObject({ answer: 'yes' });
    expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ reserved: 0.4 });
  });

  test('finds its token although the lane was moved to another account after the submit', async () => {
    const record = await desk.submit();
    use(
      testConfig({ lanes: config.lanes.map((lane) => (lane.id === 'codex' ? { ...lane, account: 'codex-2' } : lane)) }),
    );
    await desk.reserve('t');
    expect(await desk.start(record, 't')).toMatchObject({ answer: 'yes' });
    expect(await desk.read(record.id)).toMatchObject({ account: 'codex-2' });
    expect((await auditGate(redis, 'codex-2')).ids).toEqual([`${record.id}.1`]);
  });
});

describe('deliver', () => {
  test('ends the dispatch, owes its line, settles its points and frees its slot', async () => {
    const record = await desk.run(await desk.submit());
    expect(await desk.deliver(record, { success: true })).toEqual({ answer: 'delivered', state: 'succeeded' });
    expect(await desk.read(record.id)).toMatchObject({ state: 'succeeded', endedAt: expect.any(Number) });
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([record.id]);
    expect(await redis.smembers(keys.running(config.nodeId))).toEqual([]);
    const snapshot = await desk.gate.snapshot('codex');
    expect(snapshot).toMatchObject({ inFlight: 0, lastEnd: expect.any(Number) });
    expect(snapshot.windows[0]).toMatchObject({ reserved: 0, settling: 1, effective: 11 });
    expect(await redis.xlen(keys.receipts)).toBe(1);
  });

  test('twice, because its answer was lost, ends it once', async () => {
    const record = await desk.run(await desk.submit());
    await desk.deliver(record, { success: true });
    const ended = await desk.read(record.id);
    expect(await desk.deliver(record, { success: true })).toEqual({ answer: 'fenced', state: 'succeeded' });
    expect(await desk.read(record.id)).toEqual(ended);
    expect(await redis.xlen(keys.receipts)).toBe(1);
  });

  test('puts the next attempt into the other lane with the old tag', async () => {
    await desk.submit();
    const record = await desk.run(await desk.submit());
    const claude = laneOf(config, 'claude');
    expect(await desk.deliver(record, { next: rerouted(record, claude) })).toEqual({
      answer: 'delivered',
      state: 'queued',
    });
    const next = await desk.read(record.id);
    expect(next).toMatchObject({ state: 'queued', attempt: 2, lane: 'claude', account: 'claude', tag: record.tag });
    expect(await redis.zrange(keys.line(queueName('claude', config.nodeId)), '0', '-1')).toEqual([record.id]);
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([]);
    await desk.tickets.add([next]);
    const [ticket] = await redis.zrange(
      `${keys.bull}:${queueName('claude', config.nodeId)}:prioritized`,
      '0',
      '-1',
      'WITHSCORES',
    );
    expect(ticket).toBe(`${record.id}-2`);
  });

  test('is not looked at by the sweeper before a retry is due', async () => {
    const record = await desk.run(await desk.submit());
    const due = Date.now() + 60_000;
    await desk.deliver(record, { next: retrying(record, due) });
    expect(Number(await redis.zscore(keys.due, record.id))).toBe(due + config.timing.ticketRepairMs);
  });

  test('of an attempt that is not the one that runs is fenced, and only settles what it spent', async () => {
    const first = await desk.run(await desk.submit());
    expect(await desk.deliver(first, { node: 'another-node' })).toEqual({ answer: 'fenced', state: 'running' });
    expect(await desk.read(first.id)).toMatchObject({ state: 'running' });
    // Its points were spent, whoever says so: the heartbeat of the node that runs it makes the reservation again.
    expect(
      await desk.gate.renew({
        dispatch: first.id,
        attempt: 1,
        lane: laneOf(config, 'codex'),
        node: config.nodeId,
        class: 'normal',
        project: 'p',
        cost: first.cost,
        ttlMs: 1000,
      }),
    ).toBe('made');
    expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ reserved: 1, settling: 0 });
  });

  test('is not undone by a later heartbeat; a heartbeat of another node or for another attempt reserves nothing', async () => {
    const record = await desk.run(await desk.submit());
    const renew = (change: { attempt?: number; node?: string } = {}): Promise<string> =>
      desk.gate.renew({
        dispatch: record.id,
        attempt: 1,
        lane: laneOf(config, 'codex'),
        node: config.nodeId,
        class: 'normal',
        project: 'p',
        cost: record.cost,
        ttlMs: 60_000,
        ...change,
      });
    expect(await renew({ node: 'another-node' })).toBe('not-running');
    expect(await renew({ attempt: 2 })).toBe('not-running');
    expect(await renew()).toBe('renewed');
    await desk.deliver(record, { success: true });
    expect(await renew()).toBe('not-running');
    const snapshot = await desk.gate.snapshot('codex');
    expect([snapshot.inFlight, snapshot.reservations.length]).toEqual([0, 1]);
    expect(snapshot.windows[0]).toMatchObject({ reserved: 0, settling: 1 });
  });

  test('with a next attempt ends the dispatch as cancelled if a cancel came first', async () => {
    const record = await desk.run(await desk.submit());
    await desk.queue.cancel(record.id);
    expect(await desk.deliver(record, { next: rerouted(record, laneOf(config, 'claude')) })).toEqual({
      answer: 'delivered',
      state: 'cancelled',
    });
    expect(await desk.read(record.id)).toMatchObject({
      state: 'cancelled',
      attempt: 1,
      lane: 'codex',
      error: { code: 'CMO_E_CANCELLED' },
    });
  });

  test('of a success stays a success although a cancel came first', async () => {
    const record = await desk.run(await desk.submit());
    await desk.queue.cancel(record.id);
    expect(await desk.deliver(record, { success: true })).toEqual({ answer: 'delivered', state: 'succeeded' });
  });

  test('counts what a run spent although its lease had lapsed and a reading had taken it off', async () => {
    const record = await desk.submit();
    await desk.reserve('t');
    await desk.start(record, 't', { ttlMs: 20 });
    await sleep(40);
    await desk.gate.recount('codex');
    await sleep(5);
    await desk.meter(10);
    expect(await ids()).toEqual([]);
    await desk.deliver(await desk.read(record.id), { success: true });
    expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ settling: 1, effective: 11 });
  });

  test('wakes the workers that were refused, and publishes nothing if none was', async () => {
    const [one, other] = [await desk.run(await desk.submit()), await desk.run(await desk.submit())];
    expect(await wakesOf(() => desk.deliver(one, { success: true }))).toEqual([]);
    await refuseSomebody();
    expect(await wakesOf(() => desk.deliver(other, { success: true }))).toEqual(['codex']);
  });
});

describe('cancel', () => {
  const cancelled = { how: 'cancelled', state: 'cancelled' };

  test('ends what is queued at once; its ticket is stale', async () => {
    const record = await desk.submit();
    expect(await desk.queue.cancel(record.id)).toEqual(cancelled);
    expect(await desk.read(record.id)).toMatchObject({
      state: 'cancelled',
      cancelAsked: true,
      endedAt: expect.any(Number),
      error: { code: 'CMO_E_CANCELLED' },
    });
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([record.id]);
    await desk.reserve('t');
    expect(await desk.start(record, 't')).toEqual({ answer: 'stale', state: 'cancelled' });
    expect(await ids()).toEqual([]);
  });

  test('ends what waits for its retry at once', async () => {
    const record = await desk.run(await desk.submit());
    await desk.deliver(record, { next: retrying(record, Date.now() + 60_000) });
    expect(await desk.queue.cancel(record.id)).toEqual(cancelled);
  });

  test('of a running dispatch asks its node, each time', async () => {
    const record = await desk.run(await desk.submit());
    const listener = server.client();
    const heard: string[] = [];
    listener.on('message', (_channel, id) => heard.push(id));
    await listener.subscribe(keys.channels.cancel);
    expect(await desk.queue.cancel(record.id)).toEqual({ how: 'asked', state: 'running' });
    expect(await desk.queue.cancel(record.id)).toEqual({ how: 'asked', state: 'running' });
    await waitUntil(() => heard.length === 2);
    expect(await desk.read(record.id)).toMatchObject({ state: 'running', cancelAsked: true });
    listener.disconnect();
  });

  test('of an ended dispatch reports that and changes nothing', async () => {
    const record = await desk.run(await desk.submit());
    await desk.deliver(record, { success: true });
    const ended = await desk.read(record.id);
    expect(await desk.queue.cancel(record.id)).toEqual({ how: 'already-ended', state: 'succeeded' });
    expect(await desk.read(record.id)).toEqual(ended);
  });

  test('of an unknown id is null', async () => {
    expect(await desk.queue.cancel('d-00000000000000000000000000')).toBeNull();
  });
});

describe('unstart', () => {
  test('puts an attempt that started nothing back into the queue: same attempt, nothing spent, no receipt owed', async () => {
    const record = await desk.run(await desk.submit());
    await refuseSomebody();
    expect(
      await wakesOf(async () => expect(await desk.transitions.unstart(record, 1, config.nodeId)).toBe(true)),
    ).toEqual(['codex']);
    expect(await desk.read(record.id)).toMatchObject({
      state: 'queued',
      attempt: 1,
      node: null,
      startedAt: null,
      tag: record.tag,
    });
    expect(await ids()).toEqual([]);
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([]);
    expect(await desk.transitions.unstart(record, 1, config.nodeId)).toBe(false);
    await desk.run(await desk.read(record.id));
  });

  test('of a later attempt remembers that the dispatch was started before', async () => {
    const first = await desk.run(await desk.submit());
    await sleep(5);
    await desk.deliver(first, { next: rerouted(first, laneOf(config, 'codex')) });
    await sleep(5);
    const second = await desk.run(await desk.read(first.id));
    expect(await desk.transitions.unstart(second, 2, config.nodeId)).toBe(true);
    expect(await desk.read(first.id)).toMatchObject({ startedAt: first.startedAt });
  });

  test('ends it when a cancel was asked for meanwhile', async () => {
    const record = await desk.run(await desk.submit());
    await desk.queue.cancel(record.id);
    await desk.transitions.unstart(record, 1, config.nodeId);
    expect(await desk.read(record.id)).toMatchObject({
      state: 'cancelled',
      error: { code: 'CMO_E_CANCELLED' },
      endedAt: expect.any(Number),
    });
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([record.id]);
  });

  test('leaves alone what runs elsewhere or as another attempt', async () => {
    const record = await desk.run(await desk.submit());
    expect(await desk.transitions.unstart(record, 1, 'another-node')).toBe(false);
    expect(await desk.transitions.unstart(record, 2, config.nodeId)).toBe(false);
    expect(await desk.read(record.id)).toMatchObject({ state: 'running' });
  });
});

describe('assert-run', () => {
  const asserted = (record: DispatchRecord, attempt: number, node = config.nodeId) =>
    desk.transitions.assertRun({
      id: record.id,
      attempt,
      node,
      lane: 'codex',
      account: 'codex',
      tier: 'balanced',
      cost: record.cost,
      home: config.nodeId,
      ttlMs: 1000,
    });

  test('puts a record that fell back to waiting back to running, and reserves its points without admission', async () => {
    const record = await desk.submit();
    await desk.meter(94.9);
    expect(await asserted(record, 3)).toBe('asserted');
    expect(await desk.read(record.id)).toMatchObject({
      state: 'running',
      attempt: 3,
      node: config.nodeId,
      startedAt: expect.any(Number),
    });
    expect(await ids()).toEqual([`${record.id}.3`]);
    expect(await asserted(record, 3)).toBe('fits');
    await desk.deliver(await desk.read(record.id), { success: true });
  });

  test('puts a record that runs as an earlier attempt on to this one', async () => {
    const record = await desk.run(await desk.submit());
    expect(await asserted(record, 2, 'node-2')).toBe('asserted');
    expect(await redis.smembers(keys.running('node-2'))).toEqual([record.id]);
    expect(await redis.smembers(keys.running(config.nodeId))).toEqual([]);
    // The earlier attempt's own delivery, or its lease, gives its slot back.
    expect(await desk.deliver(record, { success: true })).toMatchObject({ answer: 'fenced' });
  });

  test('says when the record is beyond it, and when there is none', async () => {
    const record = await desk.run(await desk.submit());
    await desk.deliver(record, { next: rerouted(record, laneOf(config, 'codex')) });
    expect(await asserted(record, 1)).toBe('later');
    await desk.queue.cancel(record.id);
    expect(await asserted(record, 2)).toBe('later');
    expect(await asserted({ ...record, id: 'd-00000000000000000000000000' }, 1)).toBe('gone');
  });
});

describe('change', () => {
  test('moves waiting work to another lane, and its old ticket is stale', async () => {
    const record = await desk.submit();
    expect(await desk.transitions.change(record, rerouted(record, laneOf(config, 'claude')))).toBe(true);
    expect(await desk.read(record.id)).toMatchObject({ state: 'queued', lane: 'claude', attempt: 2, tag: record.tag });
    await desk.reserve('t');
    expect(await desk.start(record, 't')).toMatchObject({ answer: 'stale' });
    expect(await desk.transitions.change(record, rerouted(record, laneOf(config, 'claude')))).toBe(false);
  });

  test('ends waiting work and owes its line', async () => {
    const record = await desk.submit();
    const error = errorBody('CMO_E_DEFERRED', undefined, { retryAfter: '2030-01-01T00:00:00.000Z' });
    expect(await desk.transitions.change(record, { state: 'deferred', event: 'deferred', change: { error } })).toBe(
      true,
    );
    expect(await desk.read(record.id)).toMatchObject({ state: 'deferred', error, endedAt: expect.any(Number) });
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([record.id]);
  });

  test('leaves what runs alone', async () => {
    const record = await desk.run(await desk.submit());
    expect(await desk.transitions.change(record, { state: 'deferred', event: 'deferred', change: {} })).toBe(false);
  });
});

describe('the last waiting dispatch of a tier', () => {
  // A fetch reserves for the dearest tier that waits: without it there may be room for the others.
  test.each<[string, (record: DispatchRecord) => Promise<unknown>]>([
    ['that is cancelled', ({ id }) => desk.queue.cancel(id)],
    [
      'that moves to another lane',
      (record) => desk.transitions.change(record, rerouted(record, laneOf(config, 'claude'))),
    ],
    ['that starts', (record) => desk.run(record)],
  ])('%s wakes the refused, and one of several does not', async (_, leave) => {
    const [one, last] = [await desk.submit({ tier: 'frontier' }), await desk.submit({ tier: 'frontier' })];
    await desk.submit({ tier: 'fast' });
    expect(await wakesOf(() => leave(one))).toEqual([]);
    expect(await wakesOf(() => leave(last))).toEqual(['codex']);
  });
});

describe('interactive work', () => {
  test('that arrives wakes the workers of its account: it may use the slot that is held back from others', async () => {
    expect(await wakesOf(() => desk.submit({ class: 'normal' }))).toEqual([]);
    expect(await wakesOf(() => desk.submit({ class: 'interactive', lane: 'claude' }))).toEqual(['claude']);
    const record = await desk.run(await desk.submit({ class: 'interactive' }));
    expect(await wakesOf(() => desk.deliver(record, { next: rerouted(record, laneOf(config, 'claude')) }))).toEqual([
      'claude',
    ]);
  });

  test('that is not due yet does not open the held-back slot for the others', async () => {
    use(testConfig({ holdBack: { slots: 1, points: 1 }, slots: { account: 2, node: 8, dark: 8 } }));
    const record = await desk.run(await desk.submit({ class: 'interactive' }));
    await desk.submit();
    await desk.deliver(record, { next: retrying(record, Date.now() + 60_000) });
    await desk.reserve('one');
    await expect(desk.reserve('two')).rejects.toThrow('hold-back');
  });
});

test('a wake that comes between a refusal and the sleep is not slept through', async () => {
  const wakes = await openWakes(redis);
  const since = wakes.number('codex');
  wakes.local();
  await wakes.sleep('codex', since, 60_000, new AbortController().signal);
  const next = wakes.number('codex');
  await redis.publish(keys.channels.wake, 'codex');
  await waitUntil(() => wakes.number('codex') !== next);
  await wakes.sleep('codex', next, 60_000, new AbortController().signal);
  await wakes.close();
});
