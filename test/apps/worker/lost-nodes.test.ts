import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AttemptReceipt, DispatchRecord, ReceiptLine } from '#contract';
import { ANY_NODE, keys } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { openBox, type Box } from '../../support/box.js';
import type { RecordChange } from '../../support/records.js';
import { processesWith } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 200, killGraceMs: 1_000, lostAfterMs: 1_000 } });
});
afterEach(async () => {
  expect(await auditIndexes(box.redis)).toEqual([]);
  expect((await auditGate(box.redis, 'codex', { records: true })).problems).toEqual([]);
  await box.close();
});

const finder = { id: 'finder', stateDir: '' };
beforeEach(() => {
  finder.stateDir = join(tempFolder('finder'), 'state');
});
const anywhere: Pick<DispatchRecord, 'home' | 'request' | 'access'> = {
  home: ANY_NODE,
  access: 'read',
  request: { id: '', cwd: '', hasSchema: false, envNames: [], node: 'any', origin: 'test-node' },
};
const SLOW_ONCE = '[[sim:slow seconds=60 times=1 then=echo]]';
const lines = (stateDir: string, id: string): AttemptReceipt[] =>
  (existsSync(join(stateDir, 'receipts')) ? readdirSync(join(stateDir, 'receipts')) : []).flatMap((name) =>
    readFileSync(join(stateDir, 'receipts', name), 'utf8')
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as ReceiptLine)
      .flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : [])),
  );

/** Runs on this node, whose worker then says nothing any more; its agent goes on. */
async function goneWith(prompt: string, change: RecordChange): Promise<string> {
  const worker = await box.start();
  const id = await box.submit(prompt, change);
  await box.until(id, 'running');
  await waitUntil(() => processesWith(`${id}.1`).length > 0);
  await worker.stop({ kill: false });
  return id;
}

test('what ran on a node that is gone is lost; what any node may do begins again elsewhere, and its points settle', async () => {
  const id = await goneWith(`work ${SLOW_ONCE}`, anywhere);
  await box.start(finder);
  const record = await box.ended(id);
  expect(record).toMatchObject({
    state: 'succeeded',
    node: 'finder',
    attempt: 2,
    history: [
      { attempt: 1, outcome: 'lost', node: 'test-node' },
      { attempt: 2, outcome: 'ok' },
    ],
  });
  expect(lines(finder.stateDir, id).map(({ id: of, outcome, fenced }) => [of, outcome, fenced])).toEqual([
    [`${id}.1`, 'lost', false],
    [`${id}.2`, 'ok', false],
  ]);
  // A reading of the second may have come since.
  expect((await box.gate.snapshot('codex')).reservations.filter(({ state }) => state === 'bound')).toEqual([]);

  // The node comes back: its agent is ended, and what it had is evidence.
  expect(processesWith(`${id}.1`).length).toBeGreaterThan(0);
  await box.start();
  const late = await waitUntil(() => lines(box.stateDir, id)[0]);
  expect(late).toMatchObject({ id: `${id}.1`, fenced: true });
  expect(processesWith(`${id}.1`)).toEqual([]);
  const result = await box.records.blob(id, 'result');
  expect(result).toContain('work');
  expect(await box.records.read(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
});

test('the late answer of a lost attempt is recorded as fenced, and is not the dispatch’s answer', async () => {
  const id = await goneWith('the late one [[sim:slow seconds=3]]', { ...anywhere });
  await box.start(finder);
  await box.until(id, 'running');
  await waitUntil(async () => (await box.records.read(id))?.node === 'finder');
  await waitUntil(() => processesWith(`${id}.1`).length === 0);
  await box.start();
  expect(await waitUntil(() => lines(box.stateDir, id)[0])).toMatchObject({ outcome: 'ok', fenced: true });
  expect(await box.ended(id)).toMatchObject({
    state: 'succeeded',
    history: [{ outcome: 'lost' }, { outcome: 'ok', node: 'finder' }],
  });
});

test('a dispatch with a folder waits for its box: a reader is run again there', async () => {
  const id = await goneWith(`work ${SLOW_ONCE}`, { access: 'read' });
  await box.start(finder);
  const waiting = await box.until(id, 'queued');
  expect(waiting).toMatchObject({ home: 'test-node', attempt: 2, history: [{ outcome: 'lost' }] });
  await new Promise((resolve) => setTimeout(resolve, 800));
  expect((await box.records.read(id))?.state).toBe('queued');
  await box.start();
  expect(await box.ended(id)).toMatchObject({ state: 'succeeded', node: 'test-node', attempt: 2 });
});

test('a writer waits for a look: it may have written on the box that is gone', async () => {
  const id = await goneWith('[[sim:slow seconds=60]]', { access: 'write' });
  await box.start(finder);
  expect(await box.ended(id)).toMatchObject({ state: 'failed', needsLook: true, history: [{ outcome: 'lost' }] });
});

test('a node that only was silent for a moment, or whose lease stands, is not gone', async () => {
  const id = await goneWith('[[sim:slow seconds=60]]', anywhere);
  await box.redis.set(keys.node('test-node'), 'held');
  await box.start(finder);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(await box.records.read(id)).toMatchObject({ state: 'running', attempt: 1, node: 'test-node' });
  await box.start();
  await box.queue.cancel(id);
  expect((await box.ended(id)).state).toBe('cancelled');
});
