import { expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { forgetRecords } from '#queue';
import { keys } from '#store';
import { auditIndexes } from '../../support/audit.js';
import { newId, testConfig, type RecordChange } from '../../support/records.js';
import { desk, redis, useDesk } from './own-desk.js';

const DAY = 86_400_000;
const config = testConfig();
useDesk(config);

let submits = 0;
const request = (more: Partial<DispatchRecord['request']> = {}): RecordChange => {
  const id = newId();
  submits += 1;
  return {
    id,
    submittedAt: Date.now() - 100_000 + submits,
    request: { id, cwd: '/tmp', hasSchema: false, envNames: [], ...more },
  };
};
/** Ended so many days ago, its line written. */
async function ended(days: number, more: Partial<DispatchRecord['request']> = {}): Promise<string> {
  const { id } = await desk.submit(request(more));
  await desk.queue.cancel(id);
  await redis.hset(keys.record(id), 'endedAt', Date.now() - days * DAY);
  const submittedAt = Date.now() - (days + 1) * DAY - 1_000 + submits;
  await redis.zadd(keys.state('cancelled'), submittedAt, id);
  await redis.hset(keys.record(id), 'submittedAt', submittedAt);
  for (const label of Object.entries((await desk.read(id)).request.labels ?? {}))
    await redis.zadd(keys.label(label.join('=')), Number((await desk.read(id)).submittedAt), id);
  await redis.zrem(keys.owed, id);
  return id;
}
const forget = (days: number, most: number | null = null, dryRun = false): Promise<string[]> =>
  forgetRecords(redis, { days, most }, Date.now(), dryRun);

test('what ended before the days that are kept goes with all that names it; the others stay', async () => {
  const old = await ended(31, { batch: 'night', labels: { colour: 'red' } });
  const young = await ended(29, { batch: 'night' });
  expect(await forget(30, null, true)).toEqual([old]);
  expect(await desk.records.read(old)).not.toBeNull();
  expect(await forget(30)).toEqual([old]);
  expect(await desk.records.read(old)).toBeNull();
  expect(await desk.records.blob(old, 'prompt')).toBeNull();
  expect(await desk.records.list({ labels: ['colour=red'], limit: 9 })).toEqual([]);
  expect((await desk.records.list({ batch: 'night', limit: 9 })).map(({ id }) => id)).toEqual([young]);
  expect(await redis.keys(`${keys.record('')}${old}*`)).toEqual([]);
});

test('of more than are kept those submitted first go', async () => {
  const ids = [await ended(3), await ended(2), await ended(1)];
  expect(await forget(30, 1)).toEqual(ids.slice(0, 2));
  expect((await desk.records.list({ limit: 9 })).map(({ id }) => id)).toEqual([ids[2]]);
  expect(await auditIndexes(redis)).toEqual([]);
});

test('nothing that lives goes, however long ago it was submitted and however many there are', async () => {
  const waiting = await desk.submit(request());
  const running = await desk.run(await desk.submit(request()));
  for (const { id } of [waiting, running]) await redis.hset(keys.record(id), 'submittedAt', 1);
  expect(await forget(0.01, 1)).toEqual([]);
  expect(await desk.records.counts()).toMatchObject({ queued: 1, running: 1 });
});

test('nothing goes whose line is owed still, or whose key is known: the same command would run again', async () => {
  const owed = await ended(31);
  await redis.zadd(keys.owed, Date.now(), owed);
  const keyed = await ended(6, { once: 'k' });
  expect(await forget(5)).toEqual([]);
  await redis.zrem(keys.owed, owed);
  await redis.hset(keys.record(keyed), 'endedAt', Date.now() - 8 * DAY);
  expect((await forget(5)).sort()).toEqual([owed, keyed].sort());
});

test('a census goes on adding up when members are forgotten, and goes with the last of them', async () => {
  await ended(31, { batch: 'night' });
  await ended(1, { batch: 'night' });
  await forget(30);
  expect(await desk.records.census('night')).toMatchObject({ census: { total: 2, cancelled: 2 } });
  await forget(0.5);
  expect(await desk.records.census('night')).toBeNull();
  expect(await desk.records.batches(9)).toEqual([]);
});
