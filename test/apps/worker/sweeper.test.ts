import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { DispatchRecord, ReceiptLine } from '#contract';
import { keys, queueName } from '#store';
import type { Resources } from '#worker/resources';
import { sweep } from '#worker/sweeper';
import { auditIndexes } from '../../support/audit.js';
import { laneOf, testConfig } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { cancelled, retrying, rerouted } from '../../libs/queue/desk.js';
import { desk, redis, useDesk } from '../../libs/queue/own-desk.js';

const config = testConfig();
const { ticketRepairMs, owedRepairMs } = config.timing;
useDesk(config);

let folder: string;
let resources: Resources;
/** The sweeper's clock, driven by the test; Redis' own stamps are of now. */
let now: number;
const told: string[] = [];
beforeEach(async () => {
  folder = join(tempFolder('sweeper'), 'receipts');
  now = Date.now();
  told.length = 0;
  const note = (fields: object): void => void told.push(JSON.stringify(fields));
  resources = {
    redis,
    config,
    gate: desk.gate,
    records: desk.records,
    transitions: desk.transitions,
    tickets: desk.tickets,
    folders: { runs: '', receipts: folder, blobs: '' },
    outbox: { redis, folder },
    node: config.nodeId,
    log: { info() {}, warn: note, error: note },
    clock: () => now,
  } as unknown as Resources;
  await desk.meter(10);
});

/** As if whoever had to add it had died before: its job is gone. */
async function loseTicket({ id, attempt, lane }: DispatchRecord): Promise<void> {
  const queue = `${keys.bull}:${queueName(lane ?? '', config.nodeId)}`;
  const ticket = `${id}-${attempt}`;
  await redis
    .multi()
    .del(`${queue}:${ticket}`)
    .zrem(`${queue}:prioritized`, ticket)
    .zrem(`${queue}:delayed`, ticket)
    .exec();
}

const lines = (): ReceiptLine[] =>
  readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ReceiptLine]));

test('a waiting dispatch that has had no ticket for a while gets the one of its attempt, once, and none before', async () => {
  const record = await desk.submit();
  await loseTicket(record);
  expect(await sweep(resources)).toMatchObject({ ticketsAdded: 0 });
  now += ticketRepairMs + 100;
  expect(await sweep(resources)).toMatchObject({ ticketsAdded: 1 });
  expect(await desk.tickets.exists(record)).toBe(true);
  expect(told.join()).toContain(record.id);
  now += ticketRepairMs + 100;
  expect(await sweep(resources)).toMatchObject({ ticketsAdded: 0 });
  // Lost a second time it is missed at the next look.
  await loseTicket(record);
  now += 60_000;
  expect(await sweep(resources)).toMatchObject({ ticketsAdded: 1 });
  expect(await auditIndexes(redis)).toEqual([]);
});

test('so does the next attempt after a re-route, on its new lane, and a retry once it is due, but never what runs or has ended', async () => {
  const moved = await desk.run(await desk.submit());
  await desk.deliver(moved, { next: rerouted(moved, laneOf(config, 'claude')) });
  const due = now + 60_000;
  const later = await desk.run(await desk.submit());
  await desk.deliver(later, { next: retrying(later, due) });
  const running = await desk.run(await desk.submit());
  const ended = await desk.run(await desk.submit());
  await desk.deliver(ended, { success: true });
  for (const { id } of [moved, later, running, ended]) {
    const record = await desk.read(id);
    for (const attempt of [record.attempt, 1]) await loseTicket({ ...record, attempt });
  }

  now += ticketRepairMs + 1_000;
  expect(await sweep(resources)).toMatchObject({ ticketsAdded: 1 });
  expect(await desk.tickets.exists(await desk.read(moved.id))).toBe(true);
  expect((await desk.read(moved.id)).lane).toBe('claude');
  now = due + ticketRepairMs + 1_000;
  expect(await sweep(resources)).toMatchObject({ ticketsAdded: 1 });
  expect(await desk.tickets.exists(await desk.read(later.id))).toBe(true);
  for (const { id } of [running, ended]) expect(await desk.tickets.exists(await desk.read(id))).toBe(false);
});

test('a receipt line that a worker died before writing is written, and is no longer owed', async () => {
  const [queued, ran] = [await desk.submit(), await desk.run(await desk.submit())];
  await desk.queue.cancel(queued.id);
  await desk.deliver(ran, { next: cancelled });
  // The queue has paid for the first by itself: it is put back to where it died.
  await redis.zadd(keys.owed, Date.now(), queued.id);
  expect(await sweep(resources)).toMatchObject({ linesPaid: 0 });
  now += owedRepairMs + 100;
  expect(await sweep(resources)).toMatchObject({ linesPaid: 2 });
  expect(
    lines()
      .map(({ kind, id }) => [kind, id])
      .sort(),
  ).toEqual([queued.id, ran.id].sort().map((id) => ['dispatch', id]));
  expect(await redis.zcard(keys.owed)).toBe(0);
  expect(await sweep(resources)).toMatchObject({ linesPaid: 0 });
});
