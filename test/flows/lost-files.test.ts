import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processesWith } from '../support/processes.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
beforeEach(() => {
  box = openFlow();
});
afterEach(() => box.close());

/** A reader that hangs the first time, and a writer at work; neither has a session to go on with. */
async function twoAgents(): Promise<{ reader: string; writer: string }> {
  const reader = await box.submit(
    '[[sim:hang times=1 then=echo text="the second one answered"]]',
    '--read-only',
    '--pin',
    'codex',
  );
  const writer = await box.submit('[[sim:tool cmd="sleep 2000000"]]', '--role', 'implement', '--pin', 'claude');
  await waitUntil(() => box.ledger().length === 2, { what: 'two agents to run' });
  for (const sessions of ['codex-home/sessions', 'claude-home/projects'])
    rmSync(join(box.folder, sessions), { recursive: true, force: true });
  return { reader, writer };
}

async function toldAsInterrupted({ reader, writer }: { reader: string; writer: string }): Promise<void> {
  expect(await box.wait(reader)).toMatchObject({ ok: true, result: 'the second one answered' });
  expect(await box.wait(writer)).toMatchObject({ ok: false, state: 'failed', needsLook: true });
  expect(await problemsAtRest(box, [reader, writer])).toEqual([]);
  expect(box.starts()).toEqual({ [`${reader}.1`]: 1, [`${reader}.2`]: 1, [`${writer}.1`]: 1 });
  expect(box.linesOf(reader)).toMatchObject([{ outcome: 'interrupted' }, { outcome: 'ok' }, { kind: 'dispatch' }]);
  expect(box.linesOf(writer)).toMatchObject([{ outcome: 'interrupted' }, { kind: 'dispatch', needsLook: true }]);
}

test('when the run folders of agents at work are removed by hand, they are ended before anything else is started', async () => {
  const { reader, writer } = await twoAgents();
  for (const id of [reader, writer]) rmSync(join(box.paths.runs, `${id}.1`), { recursive: true });
  await toldAsInterrupted({ reader, writer });
});

test('a run folder that can no longer be read is set aside for inspection, and its agent is ended and reported as interrupted', async () => {
  const { reader, writer } = await twoAgents();
  await box.killDaemon();
  for (const id of [reader, writer]) truncateSync(join(box.paths.runs, `${id}.1`, 'plan.json'), 10);
  await box.up();
  await toldAsInterrupted({ reader, writer });
  expect(readdirSync(join(box.paths.runs, 'broken'))).toHaveLength(2);
});

test.each<[string, (folder: string) => void]>([
  ['holds a folder where its exit record belongs', (folder) => mkdirSync(join(folder, 'exit.json'))],
  ['has become a file', (folder) => (rmSync(folder, { recursive: true }), writeFileSync(folder, 'mine'))],
  [
    'has become a link',
    (folder) => (
      renameSync(folder, `${folder}-moved`),
      mkdirSync(`${folder}-empty`),
      symlinkSync(`${folder}-empty`, folder)
    ),
  ],
])('an agent whose run folder %s is ended and told as interrupted, while the daemon works on', async (_what, spoil) => {
  const { reader, writer } = await twoAgents();
  for (const id of [reader, writer]) spoil(join(box.paths.runs, `${id}.1`));
  await toldAsInterrupted({ reader, writer });
  expect(await box.run('and another', '--read-only')).toMatchObject({ ok: true });
});

test('a daemon starts and works whatever else is among the run folders', async () => {
  await box.up();
  await box.killDaemon();
  const id = (n: number): string => `d-01JE000000000000000000000${n}.1`;
  const at = (name: string): string => join(box.paths.runs, name);
  for (const name of ['junk', 'd-1', 'd-01JE0000000000000000000000', `${id(0)}`, `${id(0)}x`, ' ', 'a\nb', '.new-x'])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at(id(1)), 'a file');
  symlinkSync(box.folder, at(id(2)));
  symlinkSync(at(id(3)), at(id(3)));
  mkdirSync(at(join(id(4), 'exit.json')), { recursive: true });
  mkdirSync(at(id(5)));
  for (const name of ['claim', 'run.json', 'exit.json', 'plan.json', 'receipt.json'])
    writeFileSync(at(join(id(5), name)), '{"half');
  await box.up();
  expect(await box.run('hello', '--read-only')).toMatchObject({ ok: true });
  expect(readdirSync(at('broken')).length).toBeGreaterThanOrEqual(4);
});

test('folders for receipts, logs, blobs and sockets that are removed under a daemon are created again, and running work is delivered', async () => {
  const id = await box.submit('[[sim:slow seconds=2]]', '--read-only');
  await waitUntil(() => box.ledger().length === 1, { what: 'the agent to run' });
  for (const folder of [box.paths.receipts, box.paths.logs, box.paths.blobs, box.paths.sockets]) {
    // Set aside first: the daemon makes it anew at once, and a folder that is being filled cannot be removed.
    renameSync(folder, `${folder}.gone`);
    rmSync(`${folder}.gone`, { recursive: true });
  }
  expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(await box.run('and another', '--read-only')).toMatchObject({ ok: true });
  expect(existsSync(box.paths.receipts)).toBe(true);
  expect(processesWith(`${id}.1`)).toEqual([]);
});
