import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  attemptMark,
  CLAIM_LOST,
  endMarked,
  findMarked,
  makeRun,
  readClaim,
  readStatus,
  runFiles,
  spawnSupervisor,
  supervisorMark,
  voidClaim,
  type SupervisorKind,
} from '#runner';
import { isAlive, killNow, processesWith, processState, signal, waitGone } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import {
  BIN,
  ENV,
  exitOf,
  firstOutput,
  KINDS,
  livingOf,
  newRun,
  outOf,
  runningOf,
  start,
  supervisorOf,
} from './support.js';

describe.each(KINDS)('the %s supervisor', (kind) => {
  let supervisor: SupervisorKind;
  beforeAll(async () => {
    supervisor = await supervisorOf(kind);
  });

  test('runs the CLI with its prompt on stdin and records how it left', async () => {
    const run = await newRun([`${BIN}exits-after`, '0.3', '3']);
    const started = await start(run, supervisor);
    expect(started.came).toBe('running');
    const running = await runningOf(run);
    expect(running.supervisor.pid).toBe(started.pid);
    expect(running.cli).not.toBeNull();
    const { exit } = await exitOf(run);
    expect(exit).toMatchObject({ code: 3, signal: null, timedOut: false, spawnError: null });
    expect(exit.endedAt).toBeGreaterThanOrEqual(running.startedAt);
    await waitGone(running.supervisor.pid);
    expect(livingOf(run.id)).toEqual([]);
  });

  test('gives the CLI exactly its environment, arguments, folder and umask, and no ignored signals', async () => {
    const cwd = join(tempFolder('cwd'), "a folder with 'quotes' and spaces");
    mkdirSync(cwd);
    // Names that a shell script might use for itself, and the
    // mark of an agent from inside which the daemon was started.
    const env = {
      ...ENV,
      dir: '1',
      id: '2',
      path: '3',
      code: '4',
      CMO_ATTEMPT: 'd-other.9',
      EMPTY: '',
      QUOTED: `a "b" 'c' $d \`e\` \\`,
    };
    const argv = [`${BIN}tells-how-it-was-started`, '--flag', 'two words', '', '$HOME `id` "q" \\'];
    const run = await newRun(argv, { cwd }, 'line one\nline "two" \\n $x');
    await start(run, supervisor, env, 0o027);
    await exitOf(run);
    const lines = outOf(run).split('\n');
    const told = (what: string): string[] =>
      lines.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1));
    expect(told('argument')).toEqual(argv.slice(1));
    expect(outOf(run)).toContain('prompt line one\nline "two" \\n $x\n');
    expect(told('cwd')).toEqual([cwd]);
    expect(told('umask')).toEqual(['0027']);
    expect(lines).toEqual(expect.arrayContaining(['SigIgn:\t0000000000000000', 'SigBlk:\t0000000000000000']));
    const entries = told('env').filter((entry) => kind !== 'bash' || !/^(SHLVL|_)=/.test(entry));
    expect(entries.sort()).toEqual(
      Object.entries({ ...env, CMO_ATTEMPT: run.id, PWD: cwd })
        .map(([name, value]) => `${name}=${value}`)
        .sort(),
    );
  });

  test('keeps its folder private and leaves only the files that are promised', async () => {
    const run = await newRun(['/bin/echo', 'hello']);
    const { pid } = await start(run, supervisor);
    await exitOf(run);
    await waitGone(pid ?? 0);
    expect(readdirSync(run.folder).sort()).toEqual([
      'claim',
      'err',
      'exit.json',
      'out',
      'plan.json',
      'prompt',
      'run.json',
    ]);
    for (const name of readdirSync(run.folder))
      expect([name, statSync(join(run.folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(statSync(run.folder).mode & 0o777).toBe(0o700);
    expect(statSync(run.runs).mode & 0o777).toBe(0o700);
  });

  test('works in a run folder whose path has spaces and quotes', async () => {
    const runs = join(tempFolder('odd'), `it's a "runs" $folder`);
    const command = join(tempFolder('bin'), 'a = b cli');
    symlinkSync('/bin/cat', command);
    const run = await newRun([command], {}, 'through odd paths');
    const { folder } = await makeRun(runs, { plan: run.plan, prompt: run.prompt });
    await start({ ...run, folder }, supervisor);
    await exitOf({ ...run, folder });
    expect(readFileSync(runFiles(folder).out, 'utf8')).toBe('through odd paths');
  });

  test('says so when the CLI is not there, is not executable, has no interpreter, or the folder is gone', async () => {
    const bin = tempFolder('bin');
    writeFileSync(join(bin, 'no-interpreter'), '#!/nonexistent/interpreter\n', { mode: 0o755 });
    writeFileSync(join(bin, 'not-executable'), '#!/bin/sh\n', { mode: 0o644 });
    writeFileSync(join(bin, 'env-finds-nothing'), '#!/usr/bin/env no-such-interpreter\n', { mode: 0o755 });
    for (const command of [
      join(bin, 'missing'),
      join(bin, 'not-executable'),
      bin,
      join(bin, 'no-interpreter'),
      join(bin, 'env-finds-nothing'),
    ]) {
      const run = await newRun([command]);
      await start(run, supervisor);
      const { exit } = await exitOf(run);
      expect([command, exit.code, typeof exit.spawnError]).toEqual([command, 127, 'string']);
    }
    const run = await newRun(['/bin/true'], { cwd: join(bin, 'no such folder') });
    await start(run, supervisor);
    expect((await exitOf(run)).exit).toMatchObject({
      code: 127,
      spawnError: expect.stringContaining('working directory') as string,
    });
  });

  test('does not take a CLI that exits with 127 for one that was not started', async () => {
    const run = await newRun(['/bin/sh', '-c', 'echo "no such tool: x" >&2; exit 127']);
    await start(run, supervisor);
    expect((await exitOf(run)).exit).toMatchObject({ code: 127, spawnError: null });
  });

  test('starts one CLI when two supervisors meet in one folder; the other leaves with 97', async () => {
    const ledger = join(tempFolder('ledger'), 'starts');
    const run = await newRun([`${BIN}appends-to-a-ledger`, ledger, '0.5']);
    const spawned = await Promise.all(
      [1, 2, 3, 4].map(() => spawnSupervisor({ folder: run.folder, plan: run.plan, env: ENV, supervisor })),
    );
    const codes = await Promise.all(spawned.map((one) => (one.ok ? one.exited : Promise.resolve(null))));
    expect(codes.sort()).toEqual([0, CLAIM_LOST, CLAIM_LOST, CLAIM_LOST]);
    expect(readFileSync(ledger, 'utf8')).toBe(`${run.id}\n`);
    expect(readdirSync(run.folder).filter((name) => name.startsWith('claim'))).toEqual(['claim']);
    expect((await start(run, supervisor)).came).toBe('lost');
  });

  test('starts nothing when it was stopped before its claim and somebody made the folder void meanwhile', async () => {
    const ledger = join(tempFolder('ledger'), 'starts');
    const run = await newRun([`${BIN}appends-to-a-ledger`, ledger]);
    const held =
      supervisor.kind === 'sh' ? { ...supervisor, tools: `${toolsThatStop()}:${supervisor.tools}` } : supervisor;
    const spawned = await spawnSupervisor({ folder: run.folder, plan: run.plan, env: ENV, supervisor: held });
    if (!spawned.ok) throw new Error(spawned.why);
    if (held.kind === 'node') signal(spawned.pid, 'SIGSTOP');
    await waitUntil(() => processState(spawned.pid) === 'T', { what: 'the supervisor to stop' });
    expect(await readStatus(run.folder)).toEqual({ state: 'unclaimed' });
    expect((await voidClaim(run.folder)).voided).toBe(true);
    process.kill(-spawned.pid, 'SIGCONT');
    expect(await spawned.exited).toBe(CLAIM_LOST);
    expect(existsSync(ledger)).toBe(false);
    expect(await readStatus(run.folder)).toEqual({ state: 'void' });
  });

  test('keeps the void claim out when it was first, and then its exit record is the truth', async () => {
    const run = await newRun([`${BIN}sleeps-forever`]);
    const { pid } = await start(run, supervisor);
    const { voided, claim } = await voidClaim(run.folder);
    expect([voided, claim.by?.pid]).toEqual([false, pid]);
    expect((await readClaim(run.folder))?.void).toBe(false);
    expect((await readStatus(run.folder)).state).toBe('running');
  });

  test('ends a CLI at its deadline with TERM', async () => {
    const noted = join(tempFolder('noted'), 'term');
    const run = await newRun([`${BIN}notes-its-term`, noted], { deadlineMs: 700, graceMs: 20_000 });
    await start(run, supervisor);
    const { exit } = await exitOf(run);
    expect(exit).toMatchObject({ code: 143, timedOut: true });
    expect(readFileSync(noted, 'utf8')).toBe('term\n');
    expect(livingOf(run.id).filter((living) => processesWith(run.id).some(({ pid }) => pid === living))).toEqual([]);
  });

  test('kills a CLI that ignores TERM, with its children, before it says that it has left', async () => {
    const run = await newRun([`${BIN}ignores-term`], { deadlineMs: 500, graceMs: 300 });
    await start(run, supervisor);
    const { exit } = await exitOf(run);
    expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL', timedOut: true });
    expect(processesWith(run.id)).toEqual([]);
  });

  test('kills what the CLI started in another session when the deadline passes, and nothing of another attempt', async () => {
    const run = await newRun(['/bin/sh', '-c', `${BIN}forks-a-setsid-stray; exec sleep 1000000`], {
      deadlineMs: 1_000,
      graceMs: 300,
    });
    // Agents of others, whose mark only begins or ends as this one's does.
    const others = [{ CMO_ATTEMPT: `${run.id}1` }, { MY_CMO_ATTEMPT: run.id }].map((env) =>
      spawn('sleep', ['1000'], { stdio: 'ignore', detached: true, env: { ...ENV, ...env } }),
    );
    try {
      await start(run, supervisor);
      const stray = Number(await firstOutput(run));
      expect(isAlive(stray)).toBe(true);
      expect((await exitOf(run)).exit).toMatchObject({ code: 143, timedOut: true });
      expect(isAlive(stray)).toBe(false);
      for (const { pid } of others) expect(isAlive(pid ?? 0)).toBe(true);
    } finally {
      for (const other of others) other.kill('SIGKILL');
    }
  });

  test('does not wait for a stray that holds the output, and leaves the one in another session to the marks', async () => {
    const run = await newRun([`${BIN}forks-a-setsid-stray`, '4']);
    const { pid } = await start(run, supervisor);
    expect((await exitOf(run)).exit).toMatchObject({ code: 4, timedOut: false });
    await waitGone(pid ?? 0);
    const stray = Number(outOf(run));
    expect(await findMarked({ marks: [attemptMark(run.id)] })).toEqual([stray]);
    const { ended, left } = await endMarked({ marks: [attemptMark(run.id)] }, { graceMs: 200 });
    expect([ended, left]).toEqual([[stray], []]);
    await waitGone(stray);
  });

  test('ends strays of the CLI’s group after a normal exit, also one without an environment', async () => {
    const run = await newRun([`${BIN}leaves-strays-in-its-group`, '0'], { graceMs: 300 });
    const { pid } = await start(run, supervisor);
    expect((await exitOf(run)).exit).toMatchObject({ code: 0, timedOut: false });
    await waitGone(pid ?? 0);
    const left = outOf(run).trim().split('\n').map(Number).filter(isAlive);
    for (const stray of left) signal(stray, 'SIGKILL');
    expect(left).toEqual([]);
  });

  test('leaves its clock behind in no case: no process of it lives after a short run with a long deadline', async () => {
    const run = await newRun(['/bin/true'], { deadlineMs: 10_000_000 });
    const { pid } = await start(run, supervisor);
    await exitOf(run);
    await waitGone(pid ?? 0);
    await waitUntil(() => livingOf(run.id).length === 0, { what: 'the clock to leave' });
  });

  test('survives TERM, HUP and INT, which a shutdown sends to everybody, and still records the exit', async () => {
    const run = await newRun([`${BIN}exits-after`, '0.5', '5']);
    const { pid } = await start(run, supervisor);
    await runningOf(run);
    for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) signal(pid ?? 0, name);
    expect((await exitOf(run)).exit).toMatchObject({ code: 5 });
  });

  test('killed with -9 is seen as dead without an exit record, and its marks lead to all that is left', async () => {
    const noted = join(tempFolder('noted'), 'term');
    const run = await newRun([`${BIN}notes-its-term`, noted], { deadlineMs: 1_000 });
    const { pid } = await start(run, supervisor);
    await firstOutput(run);
    await killNow(pid ?? 0);
    expect(await readStatus(run.folder)).toMatchObject({ state: 'running', alive: false });
    const running = await runningOf(run);
    // The shell's CLI gets TERM by its death signal; Node has no such thing.
    if (kind !== 'node') await waitGone(running.cli?.pid ?? 0);
    // Its clock outlived it, and must touch nothing when it strikes.
    await sleep(1_300);
    expect(existsSync(join(run.folder, 'timed-out'))).toBe(false);
    await endMarked(
      { marks: [attemptMark(run.id), supervisorMark(run.id)], leader: running.cli ?? undefined },
      { graceMs: 1_000 },
    );
    expect(livingOf(run.id)).toEqual([]);
    expect(readFileSync(noted, 'utf8')).toBe('term\n');
    expect(await readStatus(run.folder)).toMatchObject({ state: 'running', alive: false });
  });

  test('spools 20 MiB of output whole', async () => {
    const run = await newRun([`${BIN}writes-20-megabytes`]);
    await start(run, supervisor);
    expect((await exitOf(run)).exit.code).toBe(0);
    expect(statSync(runFiles(run.folder).out).size).toBe(20 * 1024 * 1024);
  });

  test('records one sound exit, and leaves nothing, when CLIs leave as their deadline strikes', async () => {
    const runs = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        newRun([`${BIN}exits-after`, '0.300', '6'], { deadlineMs: 292 + 3 * i, graceMs: 500 }),
      ),
    );
    await Promise.all(runs.map((run) => start(run, supervisor)));
    for (const run of runs) {
      const { exit, run: running } = await exitOf(run);
      expect([6, 143]).toContain(exit.code);
      if (exit.code === 143) expect(exit.timedOut).toBe(true);
      await waitGone(running?.supervisor.pid ?? 0);
      await waitUntil(() => livingOf(run.id).length === 0, { what: 'all of the run to leave' });
    }
  });
});

/** A PATH entry whose `ln` stops the shell before the claim is linked. */
function toolsThatStop(): string {
  const tools = tempFolder('tools');
  symlinkSync(`${BIN}holds-its-supervisor`, join(tools, 'ln'));
  return tools;
}
