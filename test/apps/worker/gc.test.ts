import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_CONFIG, type Config } from '#contract';
import { keys } from '#store';
import { openBox, type Box } from '../../support/box.js';
import { waitUntil } from '../../support/wait-until.js';

const DAY = 86_400_000;
let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 300, killGraceMs: 1_000 } });
});
afterEach(() => box.close());

const done = (): string[] =>
  existsSync(join(box.stateDir, 'runs/done')) ? readdirSync(join(box.stateDir, 'runs/done')) : [];
const blobs = (): string[] => readdirSync(join(box.stateDir, 'blobs'));
const promptOf = (id: string): string => blobs().find((name) => name.startsWith(`${id}.prompt.`)) ?? 'none';
const age = (path: string, days: number): void => {
  const at = (Date.now() - days * DAY) / 1000;
  utimesSync(path, at, at);
};
const retention = (change: Partial<Config['retention']>): void => {
  Object.assign(box.config.retention, DEFAULT_CONFIG.retention, change);
};

test('delivered run folders and files of texts go by age and number; what a living dispatch has stays', async () => {
  const worker = await box.start();
  const large = `${randomBytes(600_000).toString('hex')} [[claude:slow seconds=60]]`;
  const living = await box.submit(large, { lane: 'claude', access: 'read' });
  const ids = [
    await box.submit(`a ${randomBytes(600_000).toString('hex')} [[sim:echo]]`, { lane: 'claude' }),
    await box.submit('b [[sim:echo]]'),
    await box.submit('c [[sim:echo]]'),
  ];
  for (const id of ids) await box.ended(id);
  await box.until(living, 'running');
  await waitUntil(() => done().length === 3);
  const [a = '', b = ''] = ids;
  age(join(box.stateDir, 'runs/done', `${a}.1`), 20);
  age(join(box.stateDir, 'blobs', promptOf(a)), 40);
  age(join(box.stateDir, 'blobs', promptOf(living)), 40);

  const kept = [...done(), ...blobs()];
  const dry = await worker.collectGarbage(true);
  expect(dry).toMatchObject({ dryRun: true, records: { removed: 0 }, runs: { removed: 1 }, blobs: { removed: 1 } });
  expect([...done(), ...blobs()]).toEqual(kept);
  expect(dry.blobs.bytes).toBeGreaterThan(1_000_000);

  const data = await worker.collectGarbage(false);
  expect(data).toEqual({ ...dry, dryRun: false });
  expect(done()).not.toContain(`${a}.1`);
  expect(blobs()).toEqual([promptOf(living)]);

  retention({ runs: { days: 14, most: 1 } });
  age(join(box.stateDir, 'runs/done', `${b}.1`), 1);
  await worker.collectGarbage(false);
  expect(done()).toEqual([`${ids[2] ?? ''}.1`]);
  expect(box.starts()).toHaveProperty(`${living}.1`);
  expect((await box.records.read(living))?.state).toBe('running');
}, 30_000);

test('folders that were set aside go by age, and what an agent linked to is neither counted nor touched', async () => {
  const worker = await box.start();
  const runs = (name: string): string => join(box.stateDir, 'runs', name);
  const mine = join(box.workDir, 'mine');
  writeFileSync(mine, 'x'.repeat(1_000_000));
  for (const folder of [
    'broken/d-01JE0000000000000000000000.1-aaaaaaaa',
    'broken/d-01JE0000000000000000000001.1-bbbbbbbb',
    'text/d-01JE0000000000000000000002',
  ]) {
    mkdirSync(runs(folder), { recursive: true });
    symlinkSync(box.workDir, join(runs(folder), 'linked'));
    symlinkSync('.', join(runs(folder), 'itself'));
  }
  for (const folder of ['broken/d-01JE0000000000000000000000.1-aaaaaaaa', 'text/d-01JE0000000000000000000002'])
    age(runs(folder), 20);
  const { runs: gone } = await worker.collectGarbage(false);
  expect(gone.removed).toBe(2);
  expect(gone.bytes).toBeLessThan(100_000);
  expect([readdirSync(runs('broken')), readdirSync(runs('text')), statSync(mine).size]).toEqual([
    ['d-01JE0000000000000000000001.1-bbbbbbbb'],
    [],
    1_000_000,
  ]);
});

test('records that are kept no longer go with their files; a file that nothing names goes after an hour', async () => {
  const worker = await box.start();
  const id = await box.submit(`a ${randomBytes(600_000).toString('hex')} [[sim:echo]]`, { lane: 'claude' });
  await box.ended(id);
  await waitUntil(async () => (await box.redis.zcard(keys.owed)) === 0 && done().length === 1);
  await box.redis.hset(keys.record(id), 'endedAt', Date.now() - 31 * DAY);
  await box.redis.zadd(keys.state('succeeded'), Date.now() - 32 * DAY, id);
  const [young, old] = ['d-01JE0000000000000000000000.prompt', 'd-01JE0000000000000000000001.prompt'];
  for (const name of [young, old, '.new-1-x']) writeFileSync(join(box.stateDir, 'blobs', name), 'x');
  age(join(box.stateDir, 'blobs', old), 1);
  age(join(box.stateDir, 'blobs', '.new-1-x'), 1);
  expect(await worker.collectGarbage(false)).toMatchObject({ records: { removed: 1 }, blobs: { removed: 3 } });
  expect(await box.records.read(id)).toBeNull();
  expect(blobs()).toEqual([young]);
});

test('the room for receipts is there from the start, and comes back when there is space again', async () => {
  const worker = await box.start();
  const ballast = join(box.stateDir, 'receipts.ballast');
  expect(statSync(ballast).size).toBeGreaterThan(1_000_000);
  writeFileSync(ballast, '');
  await worker.collectGarbage(false);
  expect(statSync(ballast).size).toBeGreaterThan(1_000_000);
});
