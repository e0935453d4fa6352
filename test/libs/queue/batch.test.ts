import { expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { auditIndexes } from '../../support/audit.js';
import { newId, testConfig, type RecordChange } from '../../support/records.js';
import { sleep } from '../../support/wait-until.js';
import { failed, retrying } from './desk.js';
import { desk, redis, useDesk } from './own-desk.js';

const config = testConfig();
useDesk(config);

const member = (batch: string, more: Partial<DispatchRecord['request']> = {}): RecordChange => {
  const id = newId();
  return { id, class: 'batch', request: { id, cwd: '/tmp', hasSchema: false, envNames: [], batch, ...more } };
};

test('the census of a batch adds up in every state that its members go through', async () => {
  const submitted: DispatchRecord[] = [];
  for (let i = 0; i < 6; i++) submitted.push(await desk.submit(member('night')));
  await desk.submit(member('other'));
  const [a, b, c, d] = submitted as [DispatchRecord, DispatchRecord, DispatchRecord, DispatchRecord];
  expect(await desk.records.census('night')).toMatchObject({ batch: 'night', census: { total: 6, queued: 6 } });
  await desk.deliver(await desk.run(a), { success: true });
  await desk.deliver(await desk.run(b), { next: failed });
  await desk.deliver(await desk.run(c), { next: retrying(c, Date.now() + 60_000) });
  await desk.run(d);
  await desk.queue.cancel((submitted[4] as DispatchRecord).id);
  const { total, ...states } = (await desk.records.census('night'))?.census ?? { total: 0 };
  expect(states).toMatchObject({
    queued: 1,
    running: 1,
    retrying: 1,
    succeeded: 1,
    failed: 1,
    cancelled: 1,
    expired: 0,
  });
  expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(total);
  expect(await auditIndexes(redis)).toEqual([]);
});

test('a batch that is sent again counts nothing twice', async () => {
  const change = member('night');
  await desk.submit(change);
  await desk.submit(change);
  expect(await desk.records.census('night')).toMatchObject({ census: { total: 1, queued: 1 } });
  expect(await desk.records.census('unknown')).toBeNull();
});

test('a retry and the dispatch that it replaces both stay in the batch, and the replacement is counted once', async () => {
  const first = await desk.submit(member('night'));
  await desk.deliver(await desk.run(first), { next: failed });
  const second = await desk.submit(member('night', { retryOf: first.id }));
  await desk.submit(member('night', { retryOf: first.id }));
  expect(await desk.read(first.id)).toMatchObject({ retriedBy: second.id });
  expect(await desk.records.census('night')).toMatchObject({
    census: { total: 3, failed: 1, queued: 2 },
    replaced: { failed: 1 },
  });
  expect(await auditIndexes(redis)).toEqual([]);
});

test('batches are listed, the one last submitted to first', async () => {
  await desk.submit(member('one'));
  await desk.submit(member('two'));
  // Submits of one millisecond have no order.
  await sleep(2);
  await desk.submit(member('one'));
  expect((await desk.records.batches(10)).map(({ batch, census }) => [batch, census.total])).toEqual([
    ['one', 2],
    ['two', 1],
  ]);
});

test('dispatches are found by their labels, all of those that are asked for', async () => {
  const red = await desk.submit(member('night', { labels: { colour: 'red', size: 's' } }));
  const both = await desk.submit(member('night', { labels: { colour: 'red', size: 'l' } }));
  await desk.submit(member('night', { labels: { colour: 'blue' } }));
  const ids = async (labels: string[]): Promise<string[]> =>
    (await desk.records.list({ labels, limit: 10 })).map(({ id }) => id);
  expect(await ids(['colour=red'])).toEqual([both.id, red.id]);
  expect(await ids(['colour=red', 'size=l'])).toEqual([both.id]);
  expect(await ids(['colour=green'])).toEqual([]);
  expect(await auditIndexes(redis)).toEqual([]);
});
