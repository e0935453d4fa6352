import { expect, test } from 'vitest';
import { CmoError, type DispatchRecord } from '#contract';
import type { NewDispatch } from '#queue';
import { keys } from '#store';
import { auditIndexes } from '../../support/audit.js';
import { newId, testConfig, testRecord } from '../../support/records.js';
import { desk, redis, useDesk } from './own-desk.js';

const config = testConfig();
useDesk(config);

const fresh = (once: string, task: string): NewDispatch => {
  const id = newId();
  return {
    record: testRecord(config, { id, request: { id, cwd: '/tmp', hasSchema: false, envNames: [], once } }),
    blobs: { prompt: task, schema: null, env: '{}' },
    task,
  };
};
const conflict = async (news: readonly NewDispatch[]): Promise<string> => {
  const error = await desk.queue.submit(news).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CmoError)) throw new Error('it was taken');
  return error.body.code;
};

test('the same key with the same task is the first dispatch, also when many ask at the same moment', async () => {
  const news = Array.from({ length: 20 }, () => fresh('nightly', 'the task'));
  const answers = await Promise.all(news.map((one) => desk.queue.submit([one])));
  const ids = new Set(answers.map(([record]) => record?.id));
  expect(ids.size).toBe(1);
  expect(await desk.records.counts()).toMatchObject({ queued: 1 });
  expect(await auditIndexes(redis)).toEqual([]);
});

test('the same key with another task is refused, and nothing of that submit is recorded', async () => {
  const [first] = await desk.queue.submit([fresh('nightly', 'the task')]);
  const other = fresh('nightly', 'another task');
  const beside = fresh('beside', 'beside it');
  expect(await conflict([beside, other])).toBe('CMO_E_ONCE_CONFLICT');
  expect(await desk.records.list({ limit: 10 })).toMatchObject([{ id: first?.id }]);
  expect(await desk.records.once('beside')).toBeNull();
});

test('two of one submit with one key are one dispatch, or a conflict', async () => {
  const records = await desk.queue.submit([fresh('a', 'the task'), fresh('a', 'the task')]);
  expect(records[0]?.id).toBe(records[1]?.id);
  expect(await conflict([fresh('b', 'the task'), fresh('b', 'another task')])).toBe('CMO_E_ONCE_CONFLICT');
  expect(await desk.records.counts()).toMatchObject({ queued: 1 });
});

test('the key outlives the end by seven days, and is not counted down before', async () => {
  const [record] = await desk.queue.submit([fresh('nightly', 'the task')]);
  expect(await redis.pttl(keys.once('nightly'))).toBe(-1);
  await desk.deliver(await desk.run(record as DispatchRecord), { success: true });
  const left = await redis.pttl(keys.once('nightly'));
  expect(left).toBeLessThanOrEqual(7 * 86_400_000);
  expect(left).toBeGreaterThan(7 * 86_400_000 - 60_000);
  expect(await desk.queue.submit([fresh('nightly', 'the task')])).toMatchObject([
    { id: record?.id, state: 'succeeded' },
  ]);
  await redis.del(keys.once('nightly'));
  expect(await desk.queue.submit([fresh('nightly', 'another task')])).toMatchObject([{ state: 'queued' }]);
});

test('a known id no longer needs a key', async () => {
  const news = fresh('nightly', 'the task');
  await desk.queue.submit([news]);
  const [again] = await desk.queue.submit([{ ...news, task: 'another task' }]);
  expect(again?.id).toBe(news.record.id);
});
