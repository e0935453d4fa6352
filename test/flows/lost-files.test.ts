import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
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
  const reader = await box.submit('[[sim:hang times=1 then=echo text="the second one answered"]]', '--read-only', '--pin', 'codex');
  const writer = await box.submit('[[sim:tool cmd="sleep 2000000"]]', '--role', 'implement', '--pin', 'claude');
  await waitUntil(() => box.ledger().length === 2, { what: 'two agents to run' });
  for (const sessions of ['codex-home/sessions', 'claude-home/projects']) rmSync(join(box.folder, sessions), { recursive: true, force: true });
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

test('a run folder that can not be read any more is set aside for a look, and its agent is ended and told as interrupted', async () => {
  const { reader, writer } = await twoAgents();
  await box.killDaemon();
  for (const id of [reader, writer]) truncateSync(join(box.paths.runs, `${id}.1`, 'plan.json'), 10);
  await box.up();
  await toldAsInterrupted({ reader, writer });
  expect(readdirSync(join(box.paths.runs, 'broken'))).toHaveLength(2);
});

test('folders of receipts, logs, blobs and sockets that are removed under a daemon come back, and what runs is delivered', async () => {
  const id = await box.submit('[[sim:slow seconds=2]]', '--read-only');
  await waitUntil(() => box.ledger().length === 1, { what: 'the agent to run' });
  for (const folder of [box.paths.receipts, box.paths.logs, box.paths.blobs, box.paths.sockets]) rmSync(folder, { recursive: true, maxRetries: 10 });
  expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(await box.run('and another', '--read-only')).toMatchObject({ ok: true });
  expect(existsSync(box.paths.receipts)).toBe(true);
  expect(processesWith(`${id}.1`)).toEqual([]);
});
