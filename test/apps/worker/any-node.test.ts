import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { ANY_NODE } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { openBox, type Box } from '../../support/box.js';
import { peakOf, readLedger } from '../../support/ledger.js';
import { tempFolder } from '../../support/temp.js';

const PRINTS = new URL('../../fixtures/bin/prints-its-environment', import.meta.url).pathname;
let box: Box;
beforeEach(async () => {
  box = await openBox({
    slots: { account: 3, node: 8, dark: 3 },
    timing: { sweepMs: 200, heartbeatMs: 200, killGraceMs: 1_000 },
  });
});
afterEach(async () => {
  expect(await auditIndexes(box.redis)).toEqual([]);
  expect((await auditGate(box.redis, 'codex', { records: true, slots: 3 })).problems).toEqual([]);
  await box.close();
});

const other = (): { id: string; stateDir: string; env: Record<string, string> } => {
  const folder = tempFolder('other');
  mkdirSync(join(folder, 'home'));
  return { id: 'other', stateDir: join(folder, 'state'), env: { HOME: join(folder, 'home') } };
};
const anywhere = (): Pick<DispatchRecord, 'home' | 'request' | 'access'> => ({
  home: ANY_NODE,
  access: 'read',
  request: { id: '', cwd: '', hasSchema: false, envNames: [], node: 'any', origin: 'test-node' },
});

test('text work is done by whichever node is there, in an empty folder of its own; work with a folder waits for its box', async () => {
  const bound = await box.submit('bound [[sim:echo]]');
  const free = await box.submit('free [[sim:echo]]', anywhere());
  const there = other();
  await box.start(there);
  const record = await box.ended(free);
  expect(record).toMatchObject({ state: 'succeeded', node: 'other', home: ANY_NODE, history: [{ node: 'other' }] });
  const [start] = readLedger(box.ledger).flatMap((line) => (line.event === 'start' ? [line] : []));
  expect(start?.cwd).toBe(join(there.stateDir, 'runs/text', free));
  expect((await box.records.read(bound))?.state).toBe('queued');
  await box.start();
  expect(await box.ended(bound)).toMatchObject({ state: 'succeeded', node: 'test-node' });
});

test('a node that never served such work begins to with the first of it', async () => {
  await box.start();
  expect(await box.ended(await box.submit('free [[sim:echo]]', anywhere()))).toMatchObject({
    state: 'succeeded',
    node: 'test-node',
  });
});

test('all nodes draw on it through one gate: the account’s slots are reached and not passed', async () => {
  await box.start();
  await box.start(other());
  const ids = [];
  for (let i = 0; i < 12; i++) ids.push(await box.submit('[[sim:slow seconds=0.4]]', anywhere()));
  const nodes = new Set<string | null>();
  for (const id of ids) nodes.add((await box.ended(id)).node);
  expect(peakOf(readLedger(box.ledger))).toBe(3);
  expect(nodes).toEqual(new Set(['test-node', 'other']));
});

test('on another node it gets that node’s own toolchain, and what was sent besides', async () => {
  for (const lane of box.config.lanes) lane.command = PRINTS;
  const there = other();
  await box.start(there);
  const id = await box.submit('print', anywhere());
  expect((await box.ended(id)).state).toBe('succeeded');
  expect(await box.records.blob(id, 'result')).toContain(`HOME=${there.env['HOME'] ?? ''}`);
});
