import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Answer, Census, Envelope, RetryData } from '#contract';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';

/** Cancelling, retrying and collecting many at once, on the built programs. */
let box: FlowBox;
beforeEach(() => {
  box = openFlow({ config: { slots: { account: 2, node: 2, dark: 2 } } });
});
afterEach(() => box.close());

async function submitBatch(name: string, prompts: string[]): Promise<void> {
  const file = join(box.work, `${name}.jsonl`);
  writeFileSync(
    file,
    prompts.map((prompt, i) => JSON.stringify({ prompt, role: 'research', label: `n=${i}` })).join('\n'),
  );
  const { code, stderr } = await box.cmo(['submit', '--batch', file, '--batch-name', name]);
  if (code !== 0) throw new Error(stderr);
}
const jsonl = (text: string): Envelope[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Envelope);

test('a batch is cancelled by its name, waiting and running, after its count was shown; it never is without a word', async () => {
  await submitBatch(
    'night',
    Array.from({ length: 6 }, () => '[[sim:slow seconds=60]]'),
  );
  await submitBatch('other', ['other [[sim:echo]]']);
  await waitUntil(async () => (await box.ls('--batch', 'night', '--state', 'running')).length === 2);

  const silent = await box.cmo(['cancel', '--batch', 'night']);
  expect(silent.code).toBe(2);
  expect(silent.stderr).toContain('6 dispatches: 4 queued, 2 running');
  expect(silent.stderr).toContain('--yes');
  expect((await box.ls('--batch', 'night', '--state', 'cancelled')).length).toBe(0);

  const said = await box.cmo(['cancel', '--batch', 'night', '--yes', '--json']);
  expect(said.code).toBe(0);
  expect(JSON.parse(said.stdout)).toMatchObject({ ok: true, data: { matched: 6, cancelled: 6, asked: [] } });
  expect((await box.ls('--batch', 'night', '--state', 'cancelled')).length).toBe(6);
  expect((await box.cmo(['wait', '--batch', 'other'])).code).toBe(0);
  expect((await box.cmo(['wait', '--batch', 'night'])).code).toBe(6);
});

test('what failed of a batch is retried in its place: the batch is then as good as its retries', async () => {
  await submitBatch('night', ['good [[sim:echo]]', 'bad [[sim:bad-request]]', 'bad as well [[sim:bad-request]]']);
  const first = await box.cmo(['wait', '--batch', 'night', '--json']);
  expect(first.code).toBe(6);

  const retried = await box.cmo(['retry', '--batch', 'night', '--yes', '--json']);
  expect([retried.code, retried.stderr.includes('2 dispatches: 2 failed')]).toEqual([0, true]);
  const { dispatches } = (JSON.parse(retried.stdout) as Extract<Answer<RetryData>, { ok: true }>).data;
  expect(dispatches).toHaveLength(2);
  const again = await box.cmo(['wait', '--batch', 'night', '--json']);
  expect(again.code).toBe(6);
  const { census } = (JSON.parse(again.stdout) as { data: { census: Census } }).data;
  expect(census).toMatchObject({ total: 5, succeeded: 1, failed: 4 });

  // Nothing is retried twice by its batch, and what succeeded not at all.
  const third = await box.cmo(['retry', '--batch', 'night', '--yes', '--json']);
  expect((JSON.parse(third.stdout) as { data: RetryData }).data.dispatches).toHaveLength(2);
  const one = dispatches[0]?.id ?? '';
  expect((await box.show(one)).record.request.retryOf).toBe(dispatches[0]?.retryOf);
});

test('a batch whose failures were retried with success exits 0, and says how many were', async () => {
  await submitBatch('night', ['good [[sim:echo]]', 'cancelled [[sim:slow seconds=2]]']);
  await waitUntil(async () => (await box.ls('--batch', 'night', '--state', 'running')).length > 0);
  await box.cmo(['cancel', '--label', 'n=1', '--yes']);
  await box.cmo(['wait', '--batch', 'night']);
  expect((await box.cmo(['retry', '--batch', 'night', '--yes'])).code).toBe(0);
  const { code, stderr } = await box.cmo(['wait', '--batch', 'night', '--human']);
  expect(code).toBe(0);
  expect(stderr).toContain('1 of them retried');
});

test('the answers of a batch come as lines, or as files of a folder with its census', async () => {
  await submitBatch('night', ['one [[sim:echo]]', 'two [[sim:echo]]', 'bad [[sim:bad-request]]']);
  const waited = await box.cmo(['wait', '--batch', 'night', '--format', 'jsonl']);
  expect(waited.code).toBe(6);
  expect(
    jsonl(waited.stdout)
      .map(({ state }) => state)
      .sort(),
  ).toEqual(['failed', 'succeeded', 'succeeded']);
  expect(waited.stderr).toContain('3 dispatches: 2 succeeded, 1 failed');

  const lines = await box.cmo(['result', '--batch', 'night', '--format', 'jsonl']);
  expect(jsonl(lines.stdout).map(({ dispatchId }) => dispatchId)).toEqual(
    (await box.ls('--batch', 'night')).map(({ id }) => id).sort(),
  );

  const folder = join(box.work, 'answers');
  expect((await box.cmo(['result', '--batch', 'night', '--format', 'dir', '--out', 'answers'])).code).toBe(6);
  const [first] = jsonl(lines.stdout);
  const names = readdirSync(folder);
  expect(names).toHaveLength(6);
  expect(readFileSync(join(folder, `${first?.dispatchId ?? ''}.md`), 'utf8')).toBe(first?.result);
  expect(JSON.parse(readFileSync(join(folder, 'census.json'), 'utf8'))).toMatchObject({
    batch: 'night',
    census: { total: 3, succeeded: 2, failed: 1 },
  });
  expect((await box.cmo(['result', '--format', 'jsonl', first?.dispatchId ?? ''])).code).toBe(2);
});

test('ids and a selection together, or neither, are refused before anything is asked', async () => {
  for (const args of [['cancel'], ['retry'], ['cancel', 'd-01JE0000000000000000000000', '--batch', 'night']])
    expect((await box.cmo(args)).code).toBe(2);
  expect(box.daemonPids()).toEqual([]);
});
