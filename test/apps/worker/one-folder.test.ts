import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DispatchRecord, DispatchRequest } from '#contract';
import { openBox, type Box } from '../../support/box.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 300, heartbeatMs: 300, killGraceMs: 1_000 } });
});
afterEach(() => box.close());

const attempt = (id: string) =>
  box.receipts().flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : []))[0];
const until = (file: string): string =>
  `[[sim:tool cmd="until [ -e ${file} ]; do sleep 0.05; done; echo changed >> a.txt"]]`;
const request = (more: Partial<DispatchRequest>): DispatchRecord['request'] => more as DispatchRecord['request'];

test('two writers in one folder at once run, and each is told of the other', async () => {
  await box.start();
  const go = join(box.workDir, 'go');
  const [one, two, reader] = [
    await box.submit(until(go), { access: 'write' }),
    await box.submit(until(go), { access: 'write', lane: 'claude' }),
    await box.submit('[[sim:echo]]'),
  ];
  await waitUntil(() => Object.keys(box.starts()).length === 3);
  await waitUntil(async () => (await box.records.read(one))?.progress?.beside, { timeoutMs: 10_000 });
  writeFileSync(go, '');
  for (const id of [one, two, reader]) expect((await box.ended(id)).state).toBe('succeeded');
  expect(attempt(one)?.notes).toEqual([`beside:${two}.1`]);
  expect(attempt(two)?.notes).toEqual([`beside:${one}.1`]);
  expect(attempt(reader)?.notes).toEqual([]);
});

test('one that wants to be alone waits without a slot and without a question, and starts when the other has ended', async () => {
  await box.start();
  const go = join(box.workDir, 'go');
  const first = await box.submit(until(go), { access: 'write' });
  await waitUntil(() => box.starts()[`${first}.1`] === 1);
  const second = await box.submit('[[sim:echo]]', { access: 'write', request: request({ exclusive: true }) });
  const waiting = await waitUntil(async () => {
    const record = await box.records.read(second);
    return record?.behind === undefined ? null : record;
  });
  expect(waiting).toMatchObject({ state: 'queued', behind: `${first}.1` });
  expect((await box.gate.snapshot('codex')).inFlight).toBe(1);
  writeFileSync(go, '');
  expect((await box.ended(second)).state).toBe('succeeded');
  expect(attempt(first)?.notes).toEqual([]);
  expect(attempt(second)?.notes).toEqual([]);
  expect(box.starts()).toEqual({ [`${first}.1`]: 1, [`${second}.1`]: 1 });
});

test('it waits on after its worker was restarted, for the writer that was adopted', async () => {
  const worker = await box.start();
  const go = join(box.workDir, 'go');
  const first = await box.submit(until(go), { access: 'write', request: request({ exclusive: true }) });
  await waitUntil(() => box.starts()[`${first}.1`] === 1);
  const second = await box.submit('[[sim:echo]]', { access: 'write' });
  await waitUntil(async () => (await box.records.read(second))?.behind);
  await worker.stop({ kill: false });
  await box.start();
  await waitUntil(
    async () =>
      (await box.redis.exists(`cmo:bull:codex@test-node:${second}-1`)) === 0 &&
      (await box.records.read(second))?.behind,
  );
  writeFileSync(go, '');
  expect((await box.ended(second)).state).toBe('succeeded');
  expect((await box.ended(first)).state).toBe('succeeded');
});

test('a writer in a git tree leaves in its receipt how far the tree was from its commit before and after', async () => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: box.workDir, encoding: 'utf8' });
  git('init', '-q');
  writeFileSync(join(box.workDir, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  writeFileSync(join(box.workDir, 'a.txt'), 'one\nmine\n');
  await box.start();
  const writer = await box.submit('[[sim:tool cmd="echo two >> a.txt; echo b > b.txt"]]', { access: 'write' });
  const reader = await box.submit('[[sim:echo]]');
  await Promise.all([box.ended(writer), box.ended(reader)]);
  const head = git('rev-parse', 'HEAD').trim();
  expect(attempt(writer)?.diff).toEqual({
    before: { head, files: 1, insertions: 1, deletions: 0, untracked: 0 },
    after: { head, files: 1, insertions: 2, deletions: 0, untracked: 1 },
  });
  expect(attempt(reader)).not.toHaveProperty('diff');
});
