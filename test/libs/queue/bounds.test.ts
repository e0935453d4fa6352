import { expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { keys, queueName } from '#store';
import { auditIndexes } from '../../support/audit.js';
import { testConfig } from '../../support/records.js';
import { rerouted, retrying } from './desk.js';
import { desk, redis, useDesk } from './own-desk.js';
import { laneOf } from '../../support/records.js';

const config = testConfig();
const lane = queueName('codex', config.nodeId);
useDesk(config);

const endsOf = async (id: string): Promise<number | null> => {
  const score = await redis.zscore(keys.ends, id);
  return score === null ? null : Number(score);
};
const start = async (record: DispatchRecord): Promise<string> => {
  await desk.reserve(`token-${record.id}`);
  return (await desk.start(record, `token-${record.id}`)).answer;
};

test('what is not due is not started, and its ticket is delayed until then', async () => {
  const at = Date.now() + 60_000;
  const record = await desk.submit({ notBefore: at });
  expect(await redis.zcard(`${keys.bull}:${lane}:delayed`)).toBe(1);
  expect(await redis.zcard(`${keys.bull}:${lane}:prioritized`)).toBe(0);
  expect(Number(await redis.zscore(keys.due, record.id))).toBeGreaterThan(at);
  expect(await start(record)).toBe('stale');
  expect(await auditIndexes(redis)).toEqual([]);
});

test('interactive work that is not due does not open the held-back place', async () => {
  await desk.submit({ notBefore: Date.now() + 60_000, class: 'interactive' });
  expect(await redis.hget(keys.waiting(lane), 'class:interactive')).toBeNull();
  await desk.submit({ class: 'interactive' });
  expect(await redis.hget(keys.waiting(lane), 'class:interactive')).toBe('1');
});

test('past its latest first start it is not started; a later attempt is', async () => {
  const late = await desk.submit({ startBy: Date.now() - 1 });
  expect(await endsOf(late.id)).toBe(late.startBy);
  expect(await start(late)).toBe('stale');

  const begun = await desk.submit({ startBy: Date.now() + 60_000 });
  await desk.deliver(await desk.run(begun), { next: rerouted(begun, laneOf(config, 'codex')) });
  expect(await endsOf(begun.id)).toBeNull();
  expect(await auditIndexes(redis)).toEqual([]);
});

test('past its deadline no attempt is started, the first or another', async () => {
  const record = await desk.submit({ endBy: Date.now() - 1 });
  expect(await start(record)).toBe('stale');
  const retried = await desk.submit({ endBy: Date.now() + 60_000 });
  await desk.deliver(await desk.run(retried), { next: retrying(retried, Date.now() + 1_000) });
  expect(await endsOf(retried.id)).toBe(retried.endBy);
  expect(await auditIndexes(redis)).toEqual([]);
});

test('the earliest bound of what waits is the one that is looked at; nothing is, once it ends', async () => {
  const now = Date.now();
  const record = await desk.submit({ startBy: now + 3_000, endBy: now + 2_000, waitUntil: now + 1_000 });
  expect(await endsOf(record.id)).toBe(now + 1_000);
  await desk.queue.cancel(record.id);
  expect(await endsOf(record.id)).toBeNull();
});
