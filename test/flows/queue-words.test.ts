import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { openCmo, type Cmo } from '../support/cmo.js';

/** What a person can say to the queue about when, how often and how long, on the built programs. */
let box: Cmo;
beforeAll(() => {
  box = openCmo({ config: { timing: { sweepMs: 200 } } });
});
afterAll(() => box.close());

test('--once: the same command twice is one agent, one envelope and one exit code', async () => {
  const args = ['run', '--once', 'nightly', '--role', 'research', '--json'];
  const first = await box.cmo(args, { input: 'the task [[sim:echo]]' });
  const again = await box.cmo(args, { input: 'the task [[sim:echo]]', env: { TERM: 'xterm' } });
  expect(again.code).toBe(0);
  const [a, b] = [first, again].map(({ stdout }) => JSON.parse(stdout) as Envelope);
  expect(b).toMatchObject({ dispatchId: a?.dispatchId, result: a?.result, receipts: a?.receipts });
  expect(box.starts()).toEqual({ [`${a?.dispatchId ?? ''}.1`]: 1 });

  const other = await box.cmo(args, { input: 'another task' });
  expect(other.code).toBe(2);
  expect(other.stdout).toContain('CMO_E_ONCE_CONFLICT');
});

test('--once on a failed dispatch gives its exit code again, and starts nothing', async () => {
  const args = ['run', '--once', 'failing', '--role', 'research', '--json'];
  const first = await box.cmo(args, { input: '[[sim:bad-request]]' });
  const starts = box.starts();
  const again = await box.cmo(args, { input: '[[sim:bad-request]]' });
  expect([first.code, again.code]).toEqual([1, 1]);
  expect(box.starts()).toEqual(starts);
});

test('--once on a batch: sent again it is the batch that is there', async () => {
  const file = join(box.work, 'tasks.jsonl');
  writeFileSync(
    file,
    ['one', 'two', 'three']
      .map((prompt) => JSON.stringify({ prompt: `${prompt} [[sim:echo]]`, role: 'research' }))
      .join('\n'),
  );
  const args = ['run', '--batch', file, '--once', 'night', '--json'];
  const before = Object.keys(box.starts()).length;
  const [first, again] = [await box.cmo(args), await box.cmo(args)];
  expect([first.code, again.code]).toEqual([0, 0]);
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(first.stdout));
  expect(Object.keys(box.starts()).length - before).toBe(3);
});

test('--ttl: exit 3 when it was not started in time', async () => {
  const run = async (...flags: string[]): Promise<[number | null, string]> => {
    const { code, stdout } = await box.cmo(['run', '--role', 'research', '--json', ...flags], {
      input: 'soon [[sim:echo]]',
    });
    return [code, (JSON.parse(stdout) as Envelope).state];
  };
  expect(await run('--not-before', '1s', '--ttl', '30s')).toEqual([0, 'succeeded']);
  // A millisecond after its time: no ticket is opened so soon.
  expect(await run('--not-before', '1000ms', '--ttl', '1001ms')).toEqual([3, 'expired']);
  expect((await box.cmo(['run', '--not-before', '2h', '--ttl', '1h'], { input: 'late' })).code).toBe(2);
});

test('--deadline: the agent that runs is ended with it, exit 1', async () => {
  const { code, stdout } = await box.cmo(['run', '--deadline', '1500ms', '--role', 'research', '--json'], {
    input: '[[sim:slow seconds=60]]',
  });
  const envelope = JSON.parse(stdout) as Envelope;
  expect(code).toBe(1);
  expect(envelope).toMatchObject({ state: 'timed_out', error: { code: 'CMO_E_TIMED_OUT' } });
  expect(box.marked(envelope.dispatchId)).toEqual([]);
});

test('a prompt of a megabyte reaches its agent whole', async () => {
  const tail = 'the very end';
  const envelope = await box.run(
    `${'lorem ipsum '.repeat(80_000)}${tail} [[sim:echo]]`,
    '--role',
    'research',
    '--pin',
    'claude',
  );
  expect(envelope).toMatchObject({ ok: true });
  expect(envelope.result).toContain(tail);
});

test('--node any: text work in a folder of its own, whatever is here', async () => {
  const envelope = await box.run('free [[sim:echo]]', '--node', 'any');
  expect(envelope).toMatchObject({ ok: true, state: 'succeeded' });
  const [line] = box
    .ledger()
    .flatMap((one) => (one.event === 'start' && one.attempt === `${envelope.dispatchId}.1` ? [one] : []));
  expect(line?.cwd).toBe(join(box.stateDir, 'runs/text', envelope.dispatchId));
  expect((await box.cmo(['run', '--node', 'any', '--cwd', box.work], { input: 'x' })).code).toBe(2);
  expect((await box.cmo(['run', '--node', 'any', '--write'], { input: 'x' })).code).toBe(2);
});
