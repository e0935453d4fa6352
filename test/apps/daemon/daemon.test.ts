import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { stopDaemon } from '#daemon/client';
import { isAlive, killNow, signal, waitGone } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';
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

test('a dispatch goes in and its answer comes out', async () => {
  const home = fresh();
  const { started } = await home.ready();
  expect(started).toBe(true);
  const queued = await home.submit('say [[sim:echo text="hello there"]]');
  expect(queued).toMatchObject({
    ok: false,
    schema: 'cmo.envelope/1',
    state: expect.stringMatching(/queued|running/) as string,
  });
  const envelope = await home.ended(queued.dispatchId);
  expect(envelope).toMatchObject({ ok: true, state: 'succeeded', lane: 'codex', provider: 'codex', vendor: 'openai' });
  expect(envelope.result).toContain('hello there');
  expect(envelope.receipts.map(({ kind }) => kind)).toEqual(['attempt', 'dispatch']);
});

test('everything a daemon keeps is for its owner alone', async () => {
  const home = fresh();
  await home.ready();
  await home.ended((await home.submit('x')).dispatchId);
  // A run folder is closed itself; what its CLI writes in there has the mode that CLI gave it.
  const entries = readdirSync(home.paths.state, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.parentPath.includes('/runs/') || entry.isDirectory(),
  );
  const modes = entries.map((entry) => ({
    path: join(entry.parentPath, entry.name),
    mode: statSync(join(entry.parentPath, entry.name)).mode & 0o077,
  }));
  expect(modes.filter(({ mode }) => mode !== 0)).toEqual([]);
  expect(statSync(home.paths.apiSocket).mode & 0o777).toBe(0o600);
});

test('the Node supervisor is kept beside the state, so that agents can be started when the package is gone', async () => {
  const home = fresh();
  await home.ready();
  const bundled = new URL('../../../dist/supervisor.mjs', import.meta.url).pathname;
  expect(readFileSync(join(home.paths.state, 'supervisor.mjs'), 'utf8')).toBe(readFileSync(bundled, 'utf8'));
});

test('going down hands over: the daemon and its Redis leave in order, the agent goes on and is adopted', async () => {
  const home = fresh();
  const { pid } = await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=3]]');
  await waitUntil(async () => (await home.status()).running === 1, { what: 'the agent to run' });
  expect(await stopDaemon(home.paths, { kill: false })).toEqual({ ok: true, pid });
  expect(isAlive(pid)).toBe(false);
  expect(home.redisPids()).toEqual([]);
  for (const name of ['daemon.lock', 'redis.lock', 'start.lock', 'daemon.error.json'])
    expect(existsSync(join(home.paths.state, name)), name).toBe(false);
  expect(readdirSync(home.paths.sockets)).toEqual([]);
  await home.ready();
  const envelope = await home.ended(dispatchId);
  expect(envelope).toMatchObject({ ok: true, attempts: [{ outcome: 'ok' }] });
  expect(envelope.receipts.filter(({ kind }) => kind === 'attempt')).toMatchObject([{ adopted: true }]);
});

test('stopping with kill ends the agents, and the clients that wait for them are told', async () => {
  const home = fresh();
  await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=60]]');
  await waitUntil(async () => (await home.status()).running === 1, { what: 'the agent to run' });
  const waiting = home.ended(dispatchId);
  expect(await stopDaemon(home.paths, { kill: true })).toMatchObject({ ok: true });
  expect((await waiting).ok).toBe(false);
  expect(home.redisPids()).toEqual([]);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s hands over as going down does', async (name) => {
  const home = fresh();
  const { pid } = await home.ready();
  signal(pid, name);
  await waitGone(pid);
  expect(home.redisPids()).toEqual([]);
  expect(existsSync(join(home.paths.state, 'daemon.lock'))).toBe(false);
});

test('after a kill -9 of the daemon the next one takes the Redis that lives', async () => {
  const home = fresh();
  const first = await home.ready();
  const redis = home.redisPids();
  await killNow(first.pid);
  const ensured = await Promise.all([home.up(), home.up()]);
  expect(new Set(ensured.map((one) => (one.ok ? one.pid : one.error.code))).size).toBe(1);
  expect(home.redisPids()).toEqual(redis);
});

test('after a kill -9 of the daemon, with the socket of Redis removed by hand, there is one Redis and nothing is lost', async () => {
  const home = fresh();
  const first = await home.ready();
  const { dispatchId } = await home.submit('[[sim:echo text=kept]]');
  await home.ended(dispatchId);
  await killNow(first.pid);
  rmSync(home.paths.redisSocket);
  const ensured = await Promise.all([home.up(), home.up(), home.up()]);
  expect(new Set(ensured.map((one) => (one.ok ? one.pid : one.error.code))).size).toBe(1);
  expect(home.redisPids()).toHaveLength(1);
  expect((await home.ended(dispatchId)).result).toContain('kept');
});

test('after a kill -9 of daemon and Redis everything acknowledged is there', async () => {
  const home = fresh();
  const first = await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=1]]');
  await waitUntil(async () => (await home.status()).running === 1, { what: 'the agent to run' });
  await Promise.all([killNow(first.pid), ...home.redisPids().map(killNow)]);
  await home.ready();
  expect(await home.ended(dispatchId)).toMatchObject({ ok: true, attempts: [{ outcome: 'ok' }] });
});

test('a Redis that is killed under a living daemon is started again, and work goes on', async () => {
  const home = fresh();
  const { pid } = await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=1]]');
  await waitUntil(async () => (await home.status()).running === 1, { what: 'the agent to run' });
  const waiting = home.ended(dispatchId);
  await Promise.all(home.redisPids().map(killNow));
  expect(await waiting).toMatchObject({ ok: true });
  expect(home.redisPids()).toHaveLength(1);
  expect(await home.daemonPid()).toBe(pid);
});

test('a socket that was removed by hand comes back, and open connections go on', async () => {
  const home = fresh();
  const { pid } = await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=1]]');
  const waiting = home.ended(dispatchId);
  await new Promise((resolve) => setTimeout(resolve, 100));
  rmSync(home.paths.apiSocket);
  await waitUntil(() => existsSync(home.paths.apiSocket), { what: 'the socket to come back' });
  await waitUntil(
    () =>
      home.status().then(
        ({ pid: seen }) => seen === pid,
        () => false,
      ),
    { what: 'the daemon to answer' },
  );
  expect(await waiting).toMatchObject({ ok: true });
});

test('a daemon with nothing to do leaves, and takes its Redis along; one with work stays', async () => {
  const home = fresh({ config: { timing: { idleStopMs: 1_200, restartGraceMs: 0 } } });
  const { pid } = await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=3]]');
  const envelope = await home.ended(dispatchId);
  expect(envelope.ok).toBe(true);
  expect(isAlive(pid)).toBe(true);
  await waitGone(pid);
  expect(home.redisPids()).toEqual([]);
});

test('no log contains a secret', async () => {
  const home = fresh();
  await home.ready();
  const canary = 'CANARY-7f3a';
  const { dispatchId } = await home.submit(`${canary}-prompt [[sim:echo text=fine]]`, {
    env: {
      PATH: home.env['PATH'] ?? '',
      HOME: home.folder,
      CMO_STATE_DIR: home.paths.state,
      GIT_AUTHOR_NAME: `${canary}-env`,
    },
  });
  await home.ended(dispatchId);
  await home.post('/v1/dispatches', {
    dispatches: [{ id: 'x', prompt: `${canary}-bad`, cwd: 7, env: { A: `${canary}-bad` } }],
  });
  await home.get(`/v1/dispatches/${canary}`);
  await stopDaemon(home.paths, { kill: false });
  for (const name of readdirSync(home.paths.logs))
    expect(readFileSync(join(home.paths.logs, name), 'utf8'), name).not.toContain(canary);
});
