import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { daemonCommand, daemonProgram, ensureDaemon, lookForDaemon, readLastEnd, stopDaemon } from '#daemon/client';
import { pauseAfter } from '#daemon/last-end';
import { onLeave } from '../../support/on-leave.js';
import { isAlive, killNow, signal, waitGone } from '../../support/processes.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import { openHome, type Home, type HomeOptions } from './home.js';

const open: Home[] = [];
afterEach(async () => {
  for (const home of open.splice(0)) await home.close();
});

function fresh(options: HomeOptions = {}): Home {
  const home = openHome(options);
  open.push(home);
  return home;
}

type Run = { child: ChildProcess; pid: number; left: Promise<number | null> };

/** As whatever keeps a service running starts it: nothing but this command and these variables. */
function startService(home: Home, env: Record<string, string> = {}): Run {
  const [node = '', ...args] = daemonCommand(daemonProgram(), home.paths.state, true);
  const child = spawn(node, args, { env: { ...home.env, ...env }, cwd: '/', stdio: 'ignore', detached: true });
  const { pid = 0 } = child;
  onLeave(() => isAlive(pid) && signal(pid, 'SIGKILL'));
  return { child, pid, left: new Promise((resolve) => child.once('exit', resolve)) };
}

async function readyAs(home: Home, pid: number): Promise<void> {
  await waitUntil(
    async () => {
      const seen = await lookForDaemon(home.paths);
      return seen.kind === 'ready' && seen.daemon.pid === pid;
    },
    { what: `the daemon ${pid} to be ready` },
  );
}

test('a daemon that a service runs stays up when idle, and says so', async () => {
  const home = fresh({ config: { timing: { idleStopMs: 300, restartGraceMs: 0 } } });
  const { pid } = startService(home);
  await readyAs(home, pid);
  expect(await home.status()).toMatchObject({ pid, service: true });
  // One that a command has started leaves within this time: daemon.test.ts.
  await sleep(2_500);
  expect(isAlive(pid)).toBe(true);
});

test('a box that was taken down and started again counts as up: clients that wait may start a daemon that dies', async () => {
  const home = fresh();
  mkdirSync(home.paths.state, { mode: 0o700 });
  const mark = join(home.paths.state, 'down');
  writeFileSync(mark, '');
  const { pid } = startService(home);
  await readyAs(home, pid);
  await waitUntil(() => !existsSync(mark), { what: 'the mark to go' });
});

test('told to stop it leaves with 0, which nothing starts again; agents and Redis stay for the next one', async () => {
  const home = fresh();
  const first = startService(home);
  await readyAs(home, first.pid);
  const { dispatchId } = await home.submit('[[sim:slow seconds=3]]');
  await waitUntil(async () => (await home.status()).running === 1, { what: 'the agent to run' });
  const redis = home.redisPids();
  signal(first.pid, 'SIGTERM');
  expect(await first.left).toBe(0);
  expect(home.redisPids()).toEqual(redis);
  const second = startService(home);
  await readyAs(home, second.pid);
  expect(home.redisPids()).toEqual(redis);
  const envelope = await home.ended(dispatchId);
  expect(envelope).toMatchObject({ ok: true, attempts: [{ outcome: 'ok' }] });
  expect(await stopDaemon(home.paths, { kill: false })).toEqual({ ok: true, pid: second.pid });
  expect(await second.left).toBe(0);
  expect(home.redisPids()).toEqual([]);
});

test('a daemon that a command has started hands over to it, with its Redis and its agents', async () => {
  const home = fresh();
  const first = await home.ready();
  const redis = home.redisPids();
  const { dispatchId } = await home.submit('[[sim:slow seconds=3]]');
  await waitUntil(async () => (await home.status()).running === 1, { what: 'the agent to run' });
  const { pid } = startService(home);
  await readyAs(home, pid);
  expect(isAlive(first.pid)).toBe(false);
  expect(home.redisPids()).toEqual(redis);
  expect(await home.up()).toMatchObject({ ok: true, pid, started: false });
  expect(await home.ended(dispatchId)).toMatchObject({ ok: true, attempts: [{ outcome: 'ok' }] });
});

test("another service's daemon is waited for, and followed when it is gone", async () => {
  const home = fresh();
  const first = startService(home);
  await readyAs(home, first.pid);
  const second = startService(home);
  await sleep(1_500);
  expect([isAlive(first.pid), isAlive(second.pid)]).toEqual([true, true]);
  await killNow(first.pid);
  await readyAs(home, second.pid);
});

test('a daemon that waits for its turn stops when asked to', async () => {
  const home = fresh();
  const first = startService(home);
  await readyAs(home, first.pid);
  const second = startService(home);
  await waitUntil(() => readFileSync(join(home.paths.logs, 'daemon.log'), 'utf8').includes('or waited for'), {
    what: 'it to wait',
  });
  signal(second.pid, 'SIGTERM');
  expect(await second.left).toBe(0);
  expect(await home.daemonPid()).toBe(first.pid);
});

test('asked by another version to hand over, it exits with 75, and the client uses the daemon that comes back', async () => {
  const home = fresh();
  const first = startService(home);
  await readyAs(home, first.pid);
  sayInLock(home, { version: '0.0.1' });
  const ensuring = ensureDaemon(home.paths, undefined, { env: home.env });
  expect(await first.left).toBe(75);
  const second = startService(home);
  expect(await ensuring).toMatchObject({ ok: true, pid: second.pid, started: false });
});

test('if nothing brings it back, the client starts one', async () => {
  const home = fresh();
  const first = startService(home);
  await readyAs(home, first.pid);
  sayInLock(home, { version: '0.0.1' });
  expect(await ensureDaemon(home.paths, undefined, { env: home.env, serviceMs: 1_000 })).toMatchObject({
    ok: true,
    started: true,
  });
  expect(isAlive(first.pid)).toBe(false);
});

test('the service of another installation is used as it is: it would come back the same', async () => {
  const home = fresh();
  const { pid } = startService(home);
  await readyAs(home, pid);
  sayInLock(home, { version: '0.0.1', program: '/elsewhere/dist/daemon.mjs' });
  expect(await ensureDaemon(home.paths, undefined, { env: home.env })).toMatchObject({ ok: true, pid, started: false });
  sayInLock(home, { protocol: 0 });
  const ensuring = ensureDaemon(home.paths, undefined, { env: home.env, serviceMs: 1_000 });
  await waitGone(pid);
  expect(await ensuring).toMatchObject({ ok: true });
});

test('a daemon of the version now on disk is the right one, whatever version asks', async () => {
  const home = fresh();
  const { pid } = await home.ready();
  const folder = join(home.folder, 'package');
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"version":"9.9.9"}');
  writeFileSync(join(folder, 'dist/daemon.mjs'), '');
  sayInLock(home, { version: '9.9.9' });
  expect(
    await ensureDaemon(home.paths, undefined, { env: home.env, program: join(folder, 'dist/daemon.mjs') }),
  ).toMatchObject({ ok: true, pid, started: false });
});

test('a program whose package is just being replaced is waited for', async () => {
  const home = fresh();
  const program = join(home.folder, 'late.mjs');
  const ensuring = ensureDaemon(home.paths, undefined, { env: home.env, program });
  await sleep(600);
  writeFileSync(program, 'process.exit(3)');
  expect(await ensuring).toMatchObject({
    ok: false,
    error: { details: [expect.stringContaining('exit code 3') as string, expect.any(String) as string] },
  });
});

test('what fails at its start is not started again at once: a broken configuration costs no processor', async () => {
  const home = fresh();
  writeFileSync(join(home.env['CMO_CONFIG_DIR'] ?? '', 'config.json'), '{');
  const { pid, left } = startService(home);
  await waitUntil(() => existsSync(join(home.paths.state, 'daemon.error.json')), { what: 'its error' });
  await sleep(1_000);
  expect(isAlive(pid)).toBe(true);
  signal(pid, 'SIGTERM');
  expect(await left).toBe(0);
});

test('an uncaught error is in the log whole, and the next daemon can still tell of it', async () => {
  const home = fresh();
  const trap = join(home.folder, 'trap.mjs');
  writeFileSync(
    trap,
    "process.on('SIGUSR2', () => { throw new Error('the roof fell', { cause: new TypeError('a beam') }); });",
  );
  const { pid, left } = startService(home, { NODE_OPTIONS: `--import=${trap}` });
  await readyAs(home, pid);
  const now = Date.now();
  signal(pid, 'SIGUSR2');
  expect(await left).toBe(1);
  const log = readFileSync(join(home.paths.logs, 'daemon.log'), 'utf8');
  expect(log).toMatch(/"level":"fatal".*the roof fell.*trap\.mjs.*a beam/);
  const { pid: next } = await home.ready();
  expect(await readLastEnd(home.paths.state, now)).toMatchObject({
    pid,
    why: 'an uncaught error: Error: the roof fell',
    times: 1,
  });
  expect(await readLastEnd(home.paths.state, now + 2 * 86_400_000)).toBeNull();
  expect(next).not.toBe(pid);
});

test('a killed daemon is reported before and after the next one is up, with how often it happened', async () => {
  const home = fresh();
  for (const times of [1, 2]) {
    const { pid } = await home.ready();
    await killNow(pid);
    expect(await readLastEnd(home.paths.state, Date.now())).toMatchObject({
      pid,
      why: expect.stringContaining('killed') as string,
    });
    await home.ready();
    expect(await readLastEnd(home.paths.state, Date.now())).toMatchObject({ pid, times });
    await stopDaemon(home.paths, { kill: false });
  }
});

test('a service whose daemon ends again and again waits longer each time, for a minute at most', () => {
  const now = Date.parse('2026-11-30T03:00:00Z');
  const after = (times: number, agoMs = 1_000): number =>
    pauseAfter({ at: new Date(now - agoMs).toISOString(), pid: 1, version: null, why: '', times }, now);
  expect([1, 2, 3, 4, 5, 6, 7, 8, 50].map((times) => after(times))).toEqual([
    0, 0, 0, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
  expect([after(50, 600_000), pauseAfter(null, now)]).toEqual([0, 0]);
});

test('a box that was rebooted, and a stop in order, are no faults of the daemon', async () => {
  const home = fresh();
  await home.ready();
  await stopDaemon(home.paths, { kill: false });
  expect(await readLastEnd(home.paths.state, Date.now())).toBeNull();
  const { pid } = await home.ready();
  await killNow(pid);
  sayInLock(home, { bootId: 'another' });
  rmSync(join(home.paths.state, 'daemon.ended.json'), { force: true });
  expect(await readLastEnd(home.paths.state, Date.now())).toBeNull();
  await home.ready();
  expect(existsSync(join(home.paths.state, 'daemon.ended.json'))).toBe(false);
});

/** What the daemon's lock says of it, changed by hand. */
function sayInLock(home: Home, change: object): void {
  const lock = join(home.paths.state, 'daemon.lock');
  writeFileSync(lock, `${JSON.stringify({ ...(JSON.parse(readFileSync(lock, 'utf8')) as object), ...change })}\n`);
}
