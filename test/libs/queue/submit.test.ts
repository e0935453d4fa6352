import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { errorBody, ticketId, type DispatchRecord } from '#contract';
import { openQueue, type NewDispatch } from '#queue';
import { keys, openRecords, queueName } from '#store';
import { auditIndexes } from '../../support/audit.js';
import { newId, testConfig, testRecord, type RecordChange } from '../../support/records.js';
import { removeFolder, tempFolder } from '../../support/temp.js';
import { desk, redis, server, useDesk } from './own-desk.js';

const config = testConfig();
const lane = queueName('codex', config.nodeId);
useDesk(config);

const fresh = (change: RecordChange = {}, prompt = 'the prompt'): NewDispatch => ({
  record: testRecord(config, change),
  blobs: { prompt, schema: null, env: '{"HOME":"/h"}' },
});
const ofBatch = (batch: string): RecordChange => {
  const id = newId();
  return { id, class: 'batch', request: { id, cwd: '/tmp', hasSchema: false, envNames: [], batch } };
};
/** Ids in the order in which BullMQ will hand their tickets out. */
const order = async (queue = lane): Promise<string[]> => {
  const jobs = await redis.zrange(`${keys.bull}:${queue}:prioritized`, '0', '-1');
  return jobs.map((job) => job.replace(/-\d+$/, ''));
};

describe('submit', () => {
  test('stores the record, its texts and its ticket, and says which tag it got', async () => {
    const news = fresh();
    const [record] = await desk.queue.submit([news]);
    expect(record).toEqual({ ...news.record, tag: expect.any(Number) });
    expect(await desk.read(news.record.id)).toEqual(record);
    expect(await desk.records.blob(news.record.id, 'prompt')).toBe('the prompt');
    expect(await desk.records.blob(news.record.id, 'env')).toBe('{"HOME":"/h"}');
    expect(await desk.records.blob(news.record.id, 'schema')).toBeNull();
    expect(await redis.ttl(keys.blob(news.record.id, 'prompt'))).toBe(-1);
    expect(await desk.tickets.exists(news.record)).toBe(true);
    expect(await auditIndexes(redis)).toEqual([]);
  });

  test('of an id that is known changes nothing and returns the stored record', async () => {
    const news = fresh();
    const [first] = await desk.queue.submit([news]);
    const again = await desk.queue.submit([
      { record: { ...news.record, project: 'other', class: 'batch' }, blobs: { ...news.blobs, prompt: 'other' } },
    ]);
    expect(again).toEqual([first]);
    expect(await desk.records.blob(news.record.id, 'prompt')).toBe('the prompt');
    expect(await desk.records.counts()).toMatchObject({ queued: 1 });
    expect(await order()).toEqual([news.record.id]);
    expect(await auditIndexes(redis)).toEqual([]);
  });

  test('of an id that is known leaves its texts alone also where they are files', async () => {
    const blobs = { folder: tempFolder('blobs'), node: config.nodeId };
    const queue = openQueue({ redis, config, blobs });
    const [long, other] = [randomBytes(300_000).toString('hex'), randomBytes(300_000).toString('hex')];
    const news = fresh({}, long);
    await queue.submit([news]);
    await queue.submit([{ ...news, blobs: { ...news.blobs, prompt: other } }]);
    expect((await openRecords(redis, blobs).text(news.record.id, 'prompt'))?.text === long).toBe(true);
    await queue.close();
    removeFolder(blobs.folder);
  });

  test('of an id that has run and ended meanwhile neither starts it again nor forgets its end', async () => {
    const news = fresh();
    const [record] = await desk.queue.submit([news]);
    await desk.deliver(await desk.run(record as DispatchRecord), { success: true });
    await redis.del(`${keys.bull}:${lane}:${ticketId(news.record.id, 1)}`, `${keys.bull}:${lane}:prioritized`);
    const [again] = await desk.queue.submit([news]);
    expect(again).toMatchObject({ state: 'succeeded', endedAt: expect.any(Number) });
    expect(await order()).toEqual([]);
  });

  test('is all or none: one record that cannot wait anywhere keeps the others out', async () => {
    const good = fresh();
    const bad = fresh();
    await expect(desk.queue.submit([good, { ...bad, record: { ...bad.record, lane: null } }])).rejects.toThrow(
      /waits in no queue/,
    );
    expect(await desk.records.read(good.record.id)).toBeNull();
    expect(await desk.records.counts()).toMatchObject({ queued: 0 });
    expect(await redis.keys(`${keys.bull}:*`)).toEqual([]);
    expect(await redis.exists(keys.blob(good.record.id, 'prompt'))).toBe(0);
    expect(await auditIndexes(redis)).toEqual([]);
  });

  test('fails when a text could not be stored, and leaves no record without it', async () => {
    // Everything but the storing of texts goes well for this one.
    await redis.call('ACL', 'SETUSER', 'no-texts', 'on', 'nopass', '~*', '&*', '+@all', '-set');
    const client = new Redis({
      path: server.socket,
      username: 'no-texts',
      password: 'any',
      maxRetriesPerRequest: null,
    });
    const queue = openQueue({ redis: client, config });
    const news = fresh();
    await expect(queue.submit([news])).rejects.toThrow(/can't run this command/);
    expect(await redis.exists(keys.record(news.record.id))).toBe(0);
    await queue.close();
    client.disconnect();
    await redis.call('ACL', 'DELUSER', 'no-texts');
  });

  test('of nothing returns nothing', async () => {
    expect(await desk.queue.submit([])).toEqual([]);
  });

  test('of a batch keeps its members, the last submitted first', async () => {
    const news = [fresh(ofBatch('night')), fresh(ofBatch('night')), fresh(ofBatch('other'))];
    await desk.queue.submit(news);
    const listed = await desk.records.list({ batch: 'night', limit: 10 });
    expect(listed.map(({ id }) => id)).toEqual([news[1]?.record.id, news[0]?.record.id]);
    expect(await auditIndexes(redis)).toEqual([]);
  });

  test('of one that is deferred at once ends it: owed its line, with a time of its end, without a ticket', async () => {
    const news = fresh();
    const [record] = await desk.queue.submit([
      {
        ...news,
        record: { ...news.record, state: 'deferred', lane: null, account: null, error: errorBody('CMO_E_DEFERRED') },
      },
    ]);
    expect(record).toMatchObject({
      state: 'deferred',
      lane: null,
      endedAt: expect.any(Number),
      error: { code: 'CMO_E_DEFERRED' },
    });
    expect(await redis.zrange(keys.owed, '0', '-1')).toEqual([news.record.id]);
    expect(await redis.keys(`${keys.bull}:*`)).toEqual([]);
    expect(await auditIndexes(redis)).toEqual([]);
  });

  test('of a thousand at once stores them all', async () => {
    const news = Array.from({ length: 1000 }, () => fresh(ofBatch('big')));
    expect(await desk.queue.submit(news)).toHaveLength(1000);
    expect(await order()).toHaveLength(1000);
    expect(await auditIndexes(redis)).toEqual([]);
  });
});

describe('the order of tickets', () => {
  test('places the first dispatch of another project after the first of 250, not after all of them', async () => {
    const many = Array.from({ length: 250 }, () => fresh({ project: 'a' }));
    await desk.queue.submit(many);
    const late = fresh({ project: 'b' });
    await desk.queue.submit([late]);
    expect((await order()).indexOf(late.record.id)).toBe(1);
  });

  test('goes round between two projects that both have much', async () => {
    await desk.queue.submit(Array.from({ length: 20 }, () => fresh({ project: 'a' })));
    const late = Array.from({ length: 20 }, () => fresh({ project: 'b' }));
    await desk.queue.submit(late);
    const ids = new Set(late.map(({ record }) => record.id));
    const first = (await order()).slice(0, 20);
    expect(first.filter((id) => ids.has(id))).toHaveLength(10);
  });

  test('places a project that comes late beside what starts now, not ahead of all that waited', async () => {
    const early = await desk.queue.submit(Array.from({ length: 10 }, () => fresh({ project: 'a' })));
    for (const record of early.slice(0, 5)) await desk.run(record);
    const late = fresh({ project: 'b' });
    const [record] = await desk.queue.submit([late]);
    expect(record?.tag).toBe(early[4]?.tag);
  });

  test('puts interactive work before all other, however early that came', async () => {
    await desk.queue.submit(Array.from({ length: 5 }, () => fresh({ project: 'a' })));
    const now = fresh({ project: 'a', class: 'interactive' });
    await desk.queue.submit([now]);
    expect((await order())[0]).toBe(now.record.id);
  });

  test('counts a batch as a flow of its own', async () => {
    await desk.queue.submit(Array.from({ length: 50 }, () => fresh(ofBatch('night'))));
    const single = fresh();
    await desk.queue.submit([single]);
    expect((await order()).indexOf(single.record.id)).toBe(1);
  });

  test('starts again only when nothing waits or runs: what still runs may come back with its tag', async () => {
    const [first, second] = await desk.queue.submit([fresh(), fresh()]);
    const running = await desk.run(first as DispatchRecord);
    await desk.queue.cancel((second as DispatchRecord).id);
    const [third] = await desk.queue.submit([fresh()]);
    expect(third?.tag).toBeGreaterThan((second as DispatchRecord).tag);
    await desk.queue.cancel((third as DispatchRecord).id);
    await desk.deliver(running, { success: true });
    expect(await redis.exists(keys.fair)).toBe(0);
    const [fourth] = await desk.queue.submit([fresh()]);
    expect(fourth?.tag).toBe((first as DispatchRecord).tag);
  });
});
