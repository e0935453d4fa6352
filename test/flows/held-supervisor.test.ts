import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStat } from '#runner/process-identity';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive, signal, waitGone } from '../support/processes.js';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
beforeEach(async () => {
  box = openFlow();
  await box.up();
});
afterEach(() => box.close());

type Held = { id: string; supervisor: number };

/**
 * Stops a supervisor between its first instruction and its claim. That lasts a few milliseconds, so new processes are
 * looked for without a pause, and one that was met too late is let go and the next dispatch's is tried.
 * @returns the one that was held, and all dispatches that it took
 */
async function holdBeforeClaim(): Promise<Held & { ids: string[] }> {
  const ids: string[] = [];
  while (ids.length < 50) {
    const submitted = box.submit('[[sim:echo text=once]]', '--read-only', '--pin', 'codex');
    const supervisor = await nextSupervisor();
    signalGroup(supervisor, 'SIGSTOP');
    const id = await submitted;
    ids.push(id);
    const folder = join(box.paths.runs, `${id}.1`);
    if (existsSync(folder) && !existsSync(join(folder, 'claim'))) return { id, supervisor, ids };
    signalGroup(supervisor, 'SIGCONT');
    await box.wait(id);
  }
  throw new Error(`of ${ids.length} supervisors none was met before its claim`);
}

/** It leads a group of its own; a command that it is about to start looks like it, and belongs to that group. */
async function nextSupervisor(): Promise<number> {
  const known = new Set(readdirSync('/proc'));
  for (const until = performance.now() + 20_000; performance.now() < until;) {
    for (const entry of readdirSync('/proc')) {
      if (known.has(entry)) continue;
      const command = commandOf(entry);
      const group =
        command.includes('cmo-supervisor') && command.includes(box.paths.runs)
          ? readStat(Number(entry))?.group
          : undefined;
      if (group !== undefined) return group;
      // Still a copy of its parent: its own program comes next.
      if (!command.includes('daemon.mjs')) known.add(entry);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('no supervisor was started');
}

/** With its commands. It may have left, or be gone by now. */
function signalGroup(leader: number, name: NodeJS.Signals): void {
  signal(-leader, name);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('a supervisor that was stopped before its claim starts nothing when it goes on after the next worker has', async () => {
  const { id, supervisor, ids } = await holdBeforeClaim();
  await box.killDaemon();
  await box.up();
  expect(await box.wait(id)).toMatchObject({ ok: true, result: 'once' });
  expect(isAlive(supervisor)).toBe(true);

  signalGroup(supervisor, 'SIGCONT');
  await waitGone(supervisor);
  expect(await problemsAtRest(box, ids)).toEqual([]);
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((one) => [`${one}.1`, 1])));
});

test('a supervisor that stays stopped loses its right to start, and the same attempt is started by another', async () => {
  const { id, supervisor, ids } = await holdBeforeClaim();
  // The worker waits a moment for it, voids its claim and puts the dispatch back into the line.
  expect(await box.wait(id)).toMatchObject({ ok: true, result: 'once' });
  expect(isAlive(supervisor)).toBe(true);

  signalGroup(supervisor, 'SIGCONT');
  await waitGone(supervisor);
  expect(await problemsAtRest(box, ids)).toEqual([]);
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((one) => [`${one}.1`, 1])));
  expect(box.linesOf(id)[0]).toMatchObject({ id: `${id}.1`, outcome: 'ok' });
});
