import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { STATES, type DispatchRecord } from '#contract';
import { changedFields, connect, keys, openRecords, parseRecord, recordFields, type Records } from '#store';
import { laneOf, newId, testConfig, testRecord, type RecordChange } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { openDesk, rerouted, type Desk } from '../queue/desk.js';

const config = testConfig({ slots: { account: 100, node: 100, dark: 100 } });
let server: TestRedis;
let redis: Redis;
let desk: Desk;
let records: Records;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  desk = openDesk(redis, config);
  records = desk.records;
  await desk.meter(1);
});
afterEach(() => desk.close());

const submittedAt = (at: number, change: RecordChange = {}): Promise<DispatchRecord> =>
  desk.submit({ submittedAt: at, ...change });
const idsOf = (found: DispatchRecord[]): string[] => found.map(({ id }) => id);

describe('a record', () => {
  test('comes back from its fields as it went in', () => {
    const record = testRecord(config, {
      notBefore: 5,
      waitUntil: 6,
      startedAt: 7,
      cancelAsked: true,
      needsLook: true,
      project: 'a "b" \\ ü 日本\n',
      error: { code: 'CMO_E_FAILED', message: 'x', fix: 'y' },
    });
    expect(parseRecord({ ...recordFields(record, 'q'), state: 'queued', tag: '0' })).toEqual(record);
  });

  test('keeps apart what is null and what is 0, empty or false', () => {
    const record = testRecord(config, { notBefore: 0, waitUntil: null, startedAt: 0, tier: null, cost: {} });
    expect(parseRecord({ ...recordFields(record, 'q'), state: 'queued', tag: '0' })).toEqual(record);
  });

  test('of a newer layout is not guessed at', () => {
    const fields = recordFields(testRecord(config), 'q');
    expect(parseRecord({ ...fields, schema: '2' })).toBeNull();
    expect(parseRecord({})).toBeNull();
  });

  test('is changed only where a change names something', () => {
    expect(changedFields({})).toEqual({});
    expect(changedFields({ notBefore: null, attempt: 2, needsLook: false, error: null })).toEqual({
      notBefore: '',
      attempt: '2',
      needsLook: '0',
      error: 'null',
    });
  });

  test('that was never submitted is null', async () => {
    expect(await records.read(newId())).toBeNull();
  });
});

describe('a listing', () => {
  test('has the last submitted first, whatever became of them since', async () => {
    const [old, middle, young] = [await submittedAt(1_000), await submittedAt(2_000), await submittedAt(3_000)];
    await desk.deliver(await desk.run(old), { success: true });
    await desk.queue.cancel(middle.id);
    expect(idsOf(await records.list({ limit: 10 }))).toEqual([young.id, middle.id, old.id]);
    expect(idsOf(await records.list({ limit: 2 }))).toEqual([young.id, middle.id]);
  });

  test('of one state shows the last submitted of it, not the last ended', async () => {
    const [old, young] = [await submittedAt(1_000), await submittedAt(2_000)];
    await desk.deliver(await desk.run(young), { success: true });
    await desk.deliver(await desk.run(old), { success: true });
    expect(idsOf(await records.list({ states: ['succeeded'], limit: 1 }))).toEqual([young.id]);
  });

  test('takes several states, and none that is not asked for', async () => {
    const [one, two] = [await submittedAt(1_000), await submittedAt(2_000)];
    await submittedAt(3_000);
    await desk.run(one);
    await desk.queue.cancel(two.id);
    expect(idsOf(await records.list({ states: ['running', 'cancelled'], limit: 10 }))).toEqual([two.id, one.id]);
    expect(await records.list({ states: ['expired'], limit: 10 })).toEqual([]);
  });

  test('of a batch has its members only, in the states asked for, no more than asked for', async () => {
    const member = (): Promise<DispatchRecord> => {
      const id = newId();
      return desk.submit({ id, request: { id, cwd: '/tmp', hasSchema: false, envNames: [], batch: 'night' } });
    };
    const [one, two] = [await member(), await member()];
    await desk.submit();
    await desk.queue.cancel(one.id);
    expect(idsOf(await records.list({ batch: 'night', limit: 10 })).sort()).toEqual([one.id, two.id].sort());
    expect(idsOf(await records.list({ batch: 'night', states: ['queued'], limit: 10 }))).toEqual([two.id]);
    expect(await records.list({ batch: 'night', limit: 1 })).toHaveLength(1);
    expect(await records.list({ batch: 'other', limit: 10 })).toEqual([]);
  });

  test('of nothing returns nothing', async () => {
    await desk.submit();
    expect(await records.list({ limit: 0 })).toEqual([]);
  });
});

test('the counts have every state, and follow what happens', async () => {
  const [one, two, three] = [await desk.submit(), await desk.submit(), await desk.submit()];
  await desk.run(one);
  await desk.queue.cancel(two.id);
  const running = await desk.run(three);
  await desk.deliver(running, { next: rerouted(running, laneOf(config, 'claude')) });
  const none = Object.fromEntries(STATES.map((state) => [state, 0]));
  expect(await records.counts()).toEqual({ ...none, queued: 1, running: 1, cancelled: 1 });
});

describe('a text beside a record', () => {
  test('comes back as it was, however long it is and whatever is in it', async () => {
    const id = newId();
    const text = `\u0000 "日本" \r\n ${'x'.repeat(1_000_000)}`;
    await records.putBlob(id, 'result', text);
    expect(await records.blob(id, 'result')).toBe(text);
    expect(await records.blob(id, 'partial')).toBeNull();
  });

  test('that was written first stays when a repeated submit brings another', async () => {
    const record = await desk.submit();
    await desk.queue.submit([{ record, blobs: { prompt: 'another', schema: '{}', env: '{"A":"1"}' } }]);
    expect(await records.blob(record.id, 'prompt')).toBe('p');
    expect(await records.blob(record.id, 'env')).toBe('{}');
  });
});

describe('while Redis is away', () => {
  test('a listing or a count fails, it never says that there is nothing', async () => {
    const own = await startRedis();
    const caller = connect({ socket: own.socket }, 'caller', 'test');
    const there = openRecords(caller);
    expect(await there.list({ limit: 5 })).toEqual([]);
    await own.kill();
    await expect(there.list({ limit: 5 })).rejects.toThrow();
    await expect(there.counts()).rejects.toThrow();
    await expect(there.list({ batch: 'b', limit: 5 })).rejects.toThrow();
    await expect(there.read(newId())).rejects.toThrow();
    caller.disconnect();
    await own.close();
  });

  test('a worker waits for it, a caller hears of it', async () => {
    const own = await startRedis();
    const worker = connect({ socket: own.socket }, 'worker', 'test');
    await worker.set(keys.version, '1');
    await own.stop();
    const asked = worker.get(keys.version);
    await own.start();
    expect(await asked).toBe('1');
    expect(await worker.client('GETNAME')).toBe('cmo:test');
    worker.disconnect();
    await own.close();
  });
});
