import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gatedBackend, type TicketData } from '#queue';
import { keys, queueName } from '#store';
import { newId, testConfig, testRecord } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { openDesk, type Desk } from './desk.js';

let server: TestRedis;
let redis: Redis;
let desk: Desk;
let worker: Worker<TicketData>;
const config = testConfig({ slots: { account: 100, node: 100, dark: 100 } });
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  desk = openDesk(redis, config);
  await desk.meter(1);
  const door = {
    admit: async (token: string) => desk.reserve(token).then(() => ({ ok: true as const })),
    giveBack: (token: string) => desk.gate.giveBack(token, 'codex'),
  };
  worker = new Worker<TicketData>(
    queueName('codex', config.nodeId),
    undefined,
    { connection: redis, prefix: keys.bull, autorun: false, skipVersionCheck: true },
    gatedBackend(door),
  );
  await worker.waitUntilReady();
});
afterEach(async () => {
  await worker.close();
  await desk.close();
});
afterAll(() => server.close());

/** Commands that Redis did for this, those inside scripts too; which they were, and how often. */
async function commandsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  await redis.config('RESETSTAT');
  await work();
  const stats = [...(await redis.info('commandstats')).matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(
    ([, name = '', calls]) => [name, Number(calls)] as const,
  );
  return Object.fromEntries(stats.filter(([name]) => !name.startsWith('config') && name !== 'info'));
}

let tokens = 0;
async function fetchAndStart(): Promise<void> {
  tokens += 1;
  const token = `depth-${tokens}`;
  const job = await worker.getNextJob(token, { block: false });
  if (!job) throw new Error('nothing was fetched');
  expect((await desk.start(await desk.read(job.data.id), token)).answer).toBe('yes');
  await job.moveToCompleted(null, token, false);
}

const fill = (count: number) =>
  desk.queue.submit(
    Array.from({ length: count }, () => ({
      record: testRecord(config, { id: newId() }),
      blobs: { prompt: 'p', schema: null, env: '{}' },
    })),
  );

test('a submit and a start ask the same of Redis whether ten dispatches wait or three thousand', async () => {
  const both = async () => [await commandsOf(() => desk.submit()), await commandsOf(fetchAndStart)];
  await fill(10);
  // The first of each loads its scripts.
  await both();
  const shallow = await both();
  for (let i = 0; i < 3; i++) await fill(1_000);
  expect(await both()).toEqual(shallow);
});
