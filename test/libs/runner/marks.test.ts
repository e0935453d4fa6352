import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { attemptMark, endMarked, findMarked, identityOf } from '#runner';
import { holdsEntry, procTable, psTable, type ProcessTable } from '#runner/process-table';
import { isAlive, signal, waitGone } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';
import { BIN } from './support.js';

const started: number[] = [];
afterEach(() => started.splice(0).forEach((pid) => signal(pid, 'SIGKILL')));

let next = 0;
const newId = (): string => `d-marks${process.pid}x${next++}.1`;

function launch(command: string, args: string[], env: Record<string, string>): Promise<number> {
  const child = spawn(command, args, {
    stdio: 'ignore',
    detached: true,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  const pid = child.pid ?? 0;
  started.push(pid);
  return waitUntil(() => (isAlive(pid) ? pid : null));
}

describe.each([
  ['/proc', procTable],
  ['ps', psTable],
] as const)('marks by %s', (_name, table) => {
  test('only a whole mark counts: attempt 1 is neither attempt 11 nor the tail of another variable', async () => {
    const id = newId();
    const marked = await launch('sleep', ['1000'], { CMO_ATTEMPT: id });
    await launch('sleep', ['1000'], { CMO_ATTEMPT: `${id}1` });
    await launch('sleep', ['1000'], { XCMO_ATTEMPT: id });
    await waitUntil(async () => (await table.find({ marks: [attemptMark(id)] })).length > 0);
    expect(await table.find({ marks: [attemptMark(id)] })).toEqual([marked]);
    expect(await table.find({ marks: [attemptMark(newId())] })).toEqual([]);
  });

  test("ends processes with TERM if they obey and with KILL if they don't, and reports which", async () => {
    const id = newId();
    const obeys = await launch(`${BIN}sleeps-forever`, [], { CMO_ATTEMPT: id });
    const ignores = await launch(`${BIN}ignores-term`, [], { CMO_ATTEMPT: id });
    const other = await launch('sleep', ['1000'], { CMO_ATTEMPT: newId() });
    await waitUntil(async () => (await table.find({ marks: [attemptMark(id)] })).length >= 3, {
      what: 'both, and the child of one',
    });
    const { ended, left } = await endMarked({ marks: [attemptMark(id)] }, { graceMs: 300, table });
    expect(ended).toEqual(expect.arrayContaining([obeys, ignores]));
    expect(left).toEqual([]);
    await waitGone(obeys);
    await waitGone(ignores);
    expect(isAlive(other)).toBe(true);
  });
});

test('looks twice before it says that none is left: one that forks and leaves is missed by a single look', async () => {
  const id = newId();
  const child = await launch(`${BIN}sleeps-forever`, [], { CMO_ATTEMPT: id });
  await waitUntil(async () => (await procTable.find({ marks: [attemptMark(id)] })).length > 0);
  let looks = 0;
  // As if the child had not yet stood in the list when it was read, and its parent not any more.
  const missing: ProcessTable = { find: (of) => ((looks += 1) === 1 ? Promise.resolve([]) : procTable.find(of)) };
  const { ended, left } = await endMarked({ marks: [attemptMark(id)] }, { graceMs: 2_000, table: missing });
  expect([ended, left]).toEqual([[child], []]);
  await waitGone(child);
});

test('ends also what cleared its environment, where the group’s leader is known', async () => {
  const id = newId();
  const leader = await launch('sh', ['-c', 'env -i sleep 1000 & wait'], { CMO_ATTEMPT: id });
  const identity = identityOf(leader) ?? undefined;
  const members = await waitUntil(async () => {
    const found = await findMarked({ marks: [], leader: identity });
    return found.length === 2 ? found : null;
  });
  signal(leader, 'SIGKILL');
  await waitGone(leader);
  const { ended, left } = await endMarked({ marks: [attemptMark(id)], leader: identity }, { graceMs: 1_000 });
  expect([ended, left]).toEqual([members.filter((pid) => pid !== leader), []]);
});

test.runIf(existsSync('/proc/self/fd'))(
  'ends what cleared its environment and left group and session by where it writes; not who reads there, nor who writes elsewhere',
  async () => {
    const [out, other] = ['out', 'other'].map((name) => join(tempFolder('marks'), name));
    writeFileSync(out ?? '', '');
    const shell = await launch(
      'sh',
      [
        '-c',
        'setsid env -i sleep 1000 >"$1" 2>&1 & setsid env -i sleep 1000 <"$1" >"$2" 2>&1 & setsid env -i sleep 1000 2>"$1" & wait',
        'sh',
        out ?? '',
        other ?? '',
      ],
      {},
    );
    const selection = { marks: [], writesTo: [out ?? ''] };
    const found = await waitUntil(async () =>
      ((pids) => (pids.length === 2 ? pids : null))(await procTable.find(selection)),
    );
    const { ended, left } = await endMarked(selection, { graceMs: 1_000, table: procTable });
    expect([ended.sort(), left]).toEqual([found.sort(), []]);
    const [reader] = await waitUntil(async () =>
      ((pids) => (pids.length === 1 ? pids : null))(await procTable.find({ marks: [], writesTo: [other ?? ''] })),
    );
    started.push(reader ?? 0);
    expect(isAlive(shell)).toBe(true);
  },
);

test('does not take the group of another process that got the leader’s pid', async () => {
  const leader = await launch('sleep', ['1000'], {});
  const identity = await waitUntil(() => identityOf(leader));
  expect(await findMarked({ marks: [], leader: identity })).toEqual([leader]);
  expect(await findMarked({ marks: [], leader: { ...identity, ticks: identity.ticks - 5 } })).toEqual([]);
});

test('finds nothing at once where nothing is marked, and never this process', async () => {
  const own = Object.keys(process.env)[0] ?? 'PATH';
  expect(await findMarked({ marks: [`${own}=${process.env[own]}`] })).not.toContain(process.pid);
  expect(await endMarked({ marks: [attemptMark(newId())] }, { graceMs: 5_000 })).toEqual({ ended: [], left: [] });
});

test('says what is left when it cannot be ended', async () => {
  const table = { find: () => Promise.resolve([999_999_999]) };
  expect(await endMarked({ marks: ['x=y'] }, { graceMs: 60, killMs: 100, table })).toEqual({
    ended: [999_999_999],
    left: [999_999_999],
  });
});

test('an entry of an environment is matched between NULs', () => {
  const holds = (text: string): boolean => holdsEntry(Buffer.from(text), Buffer.from('A=1'));
  expect(['A=1', 'A=1\0B=2\0', 'B=2\0A=1\0', 'BA=1\0A=1', 'A=11\0A=1'].map(holds)).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(['', 'A=11\0', 'BA=1\0', 'B=A=1\0', 'A=1 \0'].map(holds)).toEqual([false, false, false, false, false]);
});
