import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openGate } from '#gate';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

async function read(usedPercent: number): Promise<void> {
  const gate = openGate(box.redis(), box.settings());
  const now = Date.now();
  for (const account of gate.accounts())
    await gate.read({
      account,
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt: now + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: now,
      readAt: now,
      plan: null,
    });
}

test('a Redis that comes back with less than it acknowledged starts nothing twice: the files tell what ran and how it ended', async () => {
  box = openFlow();
  await box.up();
  await read(96);
  const go = join(box.folder, 'go');
  const running = [
    await box.submit(untilThere(go), '--pin', 'codex'),
    await box.submit(untilThere(go), '--pin', 'claude'),
  ];
  const done = [
    await box.submit('[[sim:echo text=done]]', '--pin', 'codex'),
    await box.submit('[[sim:bad-request]]', '--pin', 'claude'),
  ];
  // Everything is on record and nothing was started: what a torn file, or an old copy of it, may hold.
  const data = join(box.paths.redis, 'appendonlydir');
  const old = join(box.folder, 'old');
  await waitUntil(async () => (await box.redis().info('persistence')).includes('aof_rewrite_in_progress:0'), {
    what: 'the file of Redis to be whole',
  });
  cpSync(data, old, { recursive: true });
  await read(10);
  for (const id of done) await box.wait(id);
  await waitUntil(() => Object.keys(box.starts()).length === 4, { what: 'all agents to have started' });

  await Promise.all([box.killDaemon(), box.killRedis()]);
  rmSync(data, { recursive: true });
  cpSync(old, data, { recursive: true });
  await box.up();
  await read(10);
  const ids = [...running, ...done];
  expect((await box.wait(done[0] ?? '')).result).toBe('done');
  expect(await box.wait(done[1] ?? '')).toMatchObject({ state: 'failed' });
  writeFileSync(go, '');
  for (const id of running) expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(await problemsAtRest(box, ids, { endsToldAgain: true })).toEqual([]);
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.1`, 1])));
});
