import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AttemptReceipt, DispatchRecord, ReceiptLine } from '#contract';
import { laneCost } from '#gate';
import { findRun, makeRun, writeReceipt } from '#runner';
import { keys } from '#store';
import type { Conclusion } from '#worker/conclusion-file';
import { deliver } from '#worker/deliver';
import type { Resources } from '#worker/resources';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { pictureOf } from '../../support/picture.js';
import { laneOf, testConfig } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { newPlan } from '../../libs/runner/support.js';
import { cancelled, failed, rerouted, succeeded } from '../../libs/queue/desk.js';
import { desk, redis, useDesk } from '../../libs/queue/own-desk.js';

const config = testConfig();
useDesk(config);

type Run = { record: DispatchRecord; folder: string; resources: Resources };

/** An attempt that has ended, with its folder, and what a delivery needs. */
async function ran(before: () => Promise<void> = () => Promise.resolve()): Promise<Run> {
  const state = tempFolder('deliver');
  const folders = { runs: join(state, 'runs'), receipts: join(state, 'receipts'), blobs: join(state, 'blobs') };
  await desk.meter(10);
  const submitted = await desk.submit();
  await before();
  const record = await desk.run(submitted);
  const { folder } = await makeRun(folders.runs, {
    plan: newPlan(['/bin/true'], { dispatch: record.id, attempt: 1, tier: 'balanced' }),
    prompt: 'p',
  });
  const resources = {
    redis,
    config,
    records: desk.records,
    transitions: desk.transitions,
    tickets: desk.tickets,
    folders,
    outbox: { redis, folder: folders.receipts },
    costs: { costsOf: laneCost },
    node: config.nodeId,
    log: { info() {}, warn() {}, error() {} },
  } as unknown as Resources;
  return { record, folder, resources };
}

function conclusion({ id }: DispatchRecord, change: Partial<Conclusion> = {}): Conclusion {
  const receipt = {
    kind: 'attempt',
    id: `${id}.1`,
    dispatch: id,
    attempt: 1,
    at: new Date().toISOString(),
    outcome: 'ok',
    class: null,
    lane: 'codex',
  } as unknown as AttemptReceipt;
  return {
    receipt,
    next: succeeded,
    cancelled,
    close: null,
    success: true,
    result: 'the answer',
    structured: null,
    partial: null,
    ...change,
  };
}

/** The methods of a class instance too, unlike a spread. */
function instead<T extends object>(of: T, change: Partial<T>): T {
  return Object.assign(Object.create(of) as T, change);
}

function linesIn(folder: string): ReceiptLine[] {
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ReceiptLine]));
}

async function everythingInOrder({ record, resources }: Run): Promise<void> {
  expect(findRun(resources.folders.runs, `${record.id}.1`)?.where).toBe('done');
  expect(await auditIndexes(redis)).toEqual([]);
  expect((await auditGate(redis, 'codex', { records: true })).problems).toEqual([]);
  expect(await redis.zscore(keys.owed, record.id)).toBeNull();
}

test('a Redis that falls back to before the start while the end is being delivered is told what ran and how it ended, so nothing starts it again', async () => {
  let back = (): Promise<void> => Promise.resolve();
  const run = await ran(async () => {
    back = await pictureOf(redis);
  });
  const { record, folder, resources } = run;
  let tries = 0;
  const transitions = instead(resources.transitions, {
    async deliver(step) {
      tries += 1;
      if (tries === 1) await back();
      return resources.transitions.deliver(step);
    },
  });
  await deliver({ ...resources, transitions }, record, folder, 'codex', conclusion(record));
  expect(tries).toBe(2);
  expect(await desk.read(record.id)).toMatchObject({ state: 'succeeded', attempt: 1, node: config.nodeId });
  expect(await desk.records.blob(record.id, 'result')).toBe('the answer');
  expect(linesIn(resources.folders.receipts).map(({ kind }) => kind)).toEqual(['attempt', 'dispatch']);
  expect((await desk.gate.snapshot('codex')).windows[0]).toMatchObject({ reserved: 0, settling: 1 });
  await everythingInOrder(run);
});

const crash = (): never => {
  throw new Error('the crash');
};

test.each<[string, (resources: Resources) => Resources]>([
  ['the receipt was linked', (r) => ({ ...r, folders: { ...r.folders, receipts: '/dev/null/no-such-folder' } })],
  ['the line was appended', (r) => ({ ...r, records: instead(r.records, { putBlob: crash }) })],
  ['the texts were kept', (r) => ({ ...r, transitions: instead(r.transitions, { deliver: crash }) })],
  [
    'the record was changed',
    (r) => ({
      ...r,
      transitions: instead(r.transitions, {
        async deliver(step) {
          await r.transitions.deliver(step);
          return crash();
        },
      }),
    }),
  ],
  ['the dispatch was told', (r) => ({ ...r, log: { ...r.log, info: crash } })],
])('a delivery that is taken up after %s tells the same end, and each line the same', async (_when, broken) => {
  const run = await ran();
  const { record, folder, resources } = run;
  const first = conclusion(record);
  await expect(deliver(broken(resources), record, folder, 'codex', first)).rejects.toThrow();
  await deliver(resources, await desk.read(record.id), folder, 'codex', first);
  expect(await desk.read(record.id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(await desk.records.blob(record.id, 'result')).toBe('the answer');
  const lines = linesIn(resources.folders.receipts);
  const told = new Set(lines.map((line) => JSON.stringify({ ...line, at: '' })));
  expect([...told].map((line) => (JSON.parse(line) as ReceiptLine).kind).sort()).toEqual(['attempt', 'dispatch']);
  expect((await desk.gate.snapshot('codex')).reservations).toHaveLength(1);
  await everythingInOrder(run);
});

test('of two that deliver one attempt the receipt of the first stands, also in the line of the second', async () => {
  const run = await ran();
  const { record, folder, resources } = run;
  const first = conclusion(record);
  await writeReceipt(folder, first.receipt);
  const other = conclusion(record, { receipt: { ...first.receipt, outcome: 'failed', class: 'killed' } });
  await deliver(resources, record, folder, 'codex', other);
  const lines = linesIn(resources.folders.receipts).flatMap((line) => (line.kind === 'attempt' ? [line] : []));
  expect(lines).toMatchObject([{ outcome: 'ok', class: null }]);
});

test('what an attempt of before had to say takes the place of no answer: the record has gone beyond it', async () => {
  const run = await ran();
  const { record, folder, resources } = run;
  await desk.deliver(record, { next: rerouted(record, laneOf(config, 'claude')) });
  await desk.meter(10, Date.now(), 'claude');
  const second = await desk.run(await desk.read(record.id));
  await desk.records.putBlob(record.id, 'result', 'the real answer');
  await deliver(resources, second, folder, 'codex', conclusion(record, { result: 'too late' }));
  expect(await desk.records.blob(record.id, 'result')).toBe('the real answer');
  expect(await desk.read(record.id)).toMatchObject({ state: 'running', attempt: 2, lane: 'claude' });
  await desk.deliver(second, { next: failed });
});
