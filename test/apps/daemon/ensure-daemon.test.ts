import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { pathsOf } from '#config';
import { ensureDaemon, stopDaemon } from '#daemon/client';
import { isAlive, killNow, processesWith } from '../../support/processes.js';
import { startRedis } from '../../support/redis.js';
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

/** A folder with the programs that a daemon needs, and this one in place of redis-server; null: none of that name. */
function pathWith(home: string, script: string | null): string {
  const folder = join(home, 'bin');
  mkdirSync(folder, { recursive: true });
  if (script !== null) {
    writeFileSync(join(folder, 'redis-server'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'redis-server'), 0o755);
  }
  return folder;
}

/** Processes that carry the state folder of this home, daemons above all. */
function processesOf(home: Home): number[] {
  return processesWith(home.paths.state, 'CMO_STATE_DIR').map(({ pid }) => pid);
}

test('of many who start at once one starts a daemon, with one Redis', async () => {
  const home = fresh();
  const all = await Promise.all(Array.from({ length: 32 }, () => home.up()));
  const ready = all.filter((one) => one.ok);
  expect(ready).toHaveLength(32);
  expect(new Set(ready.map(({ pid }) => pid)).size).toBe(1);
  expect(ready.filter(({ started }) => started)).toHaveLength(1);
  expect(home.redisPids()).toHaveLength(1);
  expect(processesOf(home)).toEqual([ready[0]?.pid]);
});

test('a daemon that is ready is found without being asked', async () => {
  const home = fresh();
  const first = await home.ready();
  expect(await home.ready()).toEqual({ ...first, started: false });
});

test.each([
  ['is not installed', null, 'CMO_E_REDIS_MISSING', /./],
  ['leaves at once', 'echo "Fatal: no good" >&2; exit 1', 'CMO_E_REDIS', /no good/],
] as const)(
  'when Redis %s everybody who asked is told so, and nothing is left behind',
  async (_what, script, code, words) => {
    const home = fresh();
    home.env['PATH'] = pathWith(home.folder, script);
    const all = await Promise.all(Array.from({ length: 6 }, () => home.up()));
    for (const one of all) {
      if (one.ok) throw new Error('it started');
      expect(one.error.code).toBe(code);
      expect(JSON.stringify(one.error)).toMatch(words);
    }
    expect(processesOf(home)).toEqual([]);
    expect(home.redisPids()).toEqual([]);
    expect(readdirSync(home.paths.state).filter((name) => name.endsWith('.lock') || name.startsWith('.new'))).toEqual(
      [],
    );
    expect(readdirSync(home.paths.sockets)).toEqual([]);

    home.env['PATH'] = process.env['PATH'] ?? '';
    await home.ready();
    expect(existsSync(join(home.paths.state, 'daemon.error.json'))).toBe(false);
  },
);

test('a configuration with errors is reported with all of them', async () => {
  const home = fresh({ config: { slots: { account: 'many' }, colour: 'red' } });
  const one = await home.up();
  if (one.ok) throw new Error('it started');
  expect(one.error.code).toBe('CMO_E_CONFIG');
  expect(one.error.details?.join('\n')).toMatch(/slots\.account[\s\S]*colour|colour[\s\S]*slots\.account/);
  expect(processesOf(home)).toEqual([]);
});

test.each([
  ['others may enter', (state: string): void => chmodSync(mkdir(state), 0o755)],
  ['is a link', (state: string): void => symlinkSync(mkdir(`${state}-real`), state)],
  ['is a file', (state: string): void => writeFileSync(state, '')],
])('a state folder that %s is refused', async (_what, make) => {
  const home = fresh();
  rmSync(home.paths.state, { recursive: true, force: true });
  make(home.paths.state);
  expect(await home.up()).toMatchObject({ ok: false, error: { code: 'CMO_E_STATE_FOLDER' } });
  rmSync(home.paths.state, { recursive: true, force: true });
});

test('a state path that is too long for sockets has them in a short folder of its own', async () => {
  const home = fresh({ state: (folder) => join(folder, 'x'.repeat(120), 'state') });
  expect(dirname(home.paths.apiSocket)).not.toContain('xxx');
  await home.ready();
  expect(statSync(home.paths.sockets).mode & 0o777).toBe(0o700);
  expect((await home.status()).redis.private).toBe(true);
});

test('a shell with another XDG_RUNTIME_DIR finds the daemon that listens elsewhere', async () => {
  const home = fresh({ state: (folder) => join(folder, 'x'.repeat(120), 'state') });
  const first = await home.ready();
  const runtime = join(home.folder, 'run');
  mkdirSync(runtime, { mode: 0o700 });
  const env = { ...home.env, XDG_RUNTIME_DIR: runtime };
  const paths = pathsOf(env, { home: home.folder, temp: home.env['TMPDIR'] ?? '' });
  expect(paths.apiSocket).not.toBe(home.paths.apiSocket);
  expect(await ensureDaemon(paths, undefined, { env })).toMatchObject({ ok: true, pid: first.pid, started: false });
  expect(lstatSync(paths.apiSocket).isSymbolicLink()).toBe(true);
  // And one that is started from there later takes the Redis that lives, wherever its socket is.
  const redis = home.redisPids();
  await killNow(first.pid);
  expect(await ensureDaemon(paths, undefined, { env })).toMatchObject({ ok: true, started: true });
  expect(home.redisPids()).toEqual(redis);
  expect(lstatSync(paths.apiSocket).isSocket()).toBe(true);
});

test('a socket folder in the temp folder that somebody else made is refused', async () => {
  const home = fresh({ state: (folder) => join(folder, 'x'.repeat(120), 'state') });
  mkdirSync(home.paths.sockets, { mode: 0o777 });
  chmodSync(home.paths.sockets, 0o777);
  expect(await home.up()).toMatchObject({ ok: false, error: { code: 'CMO_E_STATE_FOLDER' } });
});

test.each(['', '{', '{"pid":1,"ticks":1,"bootId":"x"}', '[]', 'null'])(
  'lock files that read %j keep nobody out',
  async (text) => {
    const home = fresh();
    mkdir(home.paths.state);
    for (const name of ['daemon.lock', 'start.lock', 'redis.lock']) writeFileSync(join(home.paths.state, name), text);
    const { pid } = await home.ready();
    expect(processesOf(home)).toEqual([pid]);
    expect(home.redisPids()).toHaveLength(1);
  },
);

test('a daemon of another version hands over: its Redis stays, its runs go on', async () => {
  const home = fresh();
  const first = await home.ready();
  const { dispatchId } = await home.submit('[[sim:slow seconds=3]]');
  const redis = home.redisPids();
  const lock = join(home.paths.state, 'daemon.lock');
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/"version":"[^"]*"/, '"version":"0.0.1"'));
  const second = await home.ready();
  expect(second).toMatchObject({ started: true });
  expect(second.pid).not.toBe(first.pid);
  expect(isAlive(first.pid)).toBe(false);
  expect(home.redisPids()).toEqual(redis);
  expect(await home.ended(dispatchId)).toMatchObject({ ok: true, attempts: [{ outcome: 'ok' }] });
});

test('neither daemon nor Redis has the mark of an agent, a key or a token in its environment', async () => {
  const home = fresh();
  Object.assign(home.env, {
    CMO_ATTEMPT: 'd-01ARZ3NDEKTSV4RRFFQ69G5FAV.1',
    OPENAI_API_KEY: 'sk-1',
    ANTHROPIC_API_KEY: 'sk-2',
    CLAUDE_CODE_OAUTH_TOKEN: 'sk-3',
    SSH_AUTH_SOCK: '/tmp/agent',
  });
  const { pid } = await home.ready();
  for (const one of [pid, ...home.redisPids()]) {
    // Redis writes its title over the names, so what is looked for is each value too.
    const environment = readFileSync(`/proc/${one}/environ`, 'utf8');
    expect(environment).not.toMatch(/ATTEMPT|_KEY|TOKEN|SSH|sk-[123]|01ARZ3/);
    if (one === pid) expect(environment).toContain('PATH=');
  }
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  // In front of the program stand flags of Node, all known here.
  expect(words.slice(words.findIndex((word) => word.endsWith('daemon.mjs')) + 1)).toEqual([
    '--state',
    home.paths.state,
    '',
  ]);
});

test('a program that leaves without a word is an error that names its logs', async () => {
  const home = fresh();
  const program = join(home.folder, 'broken.mjs');
  writeFileSync(program, 'process.exit(3)');
  expect(await ensureDaemon(home.paths, undefined, { env: home.env, program, readyMs: 10_000 })).toMatchObject({
    ok: false,
    error: {
      code: 'CMO_E_DAEMON',
      details: [expect.stringContaining('exit code 3') as string, expect.any(String) as string],
    },
  });
  expect(existsSync(join(home.paths.state, 'start.lock'))).toBe(false);
});

test('one that never gets ready is given up after a bounded time', async () => {
  const home = fresh();
  const program = join(home.folder, 'hangs.mjs');
  writeFileSync(program, 'setInterval(() => {}, 1000)');
  expect(await ensureDaemon(home.paths, undefined, { env: home.env, program, readyMs: 700 })).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_DAEMON' },
  });
  for (const pid of processesOf(home)) await killNow(pid);
});

test('of two state folders with one node id, the second is refused while the first lives, and takes over at once when it is dead', async () => {
  const redis = await startRedis();
  try {
    const env = { CMO_REDIS_URL: `unix:${redis.socket}` };
    const [first, second] = [fresh({ env }), fresh({ env })];
    const { pid } = await first.ready();
    expect((await first.status()).redis).toMatchObject({ private: false, pid: null });
    const refused = await second.up();
    expect(refused).toMatchObject({ ok: false, error: { code: 'CMO_E_NODE_TAKEN' } });
    expect(JSON.stringify(refused)).toContain(first.paths.state);
    await killNow(pid);
    await second.ready();
    await stopDaemon(second.paths, { kill: false });
    expect(isAlive(redis.pid())).toBe(true);
    await first.ready();
  } finally {
    for (const home of open.splice(0)) await home.close();
    await redis.close();
  }
});

test('a foreign Redis that cannot be reached is named without its password', async () => {
  const home = fresh({ env: { CMO_REDIS_URL: 'redis://me:hunter2@127.0.0.1:1/0' } });
  const one = await home.up();
  expect(one).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_REDIS', message: expect.stringContaining('redis://127.0.0.1:1 ') as string },
  });
  expect(JSON.stringify(one)).not.toContain('hunter2');
  for (const name of readdirSync(home.paths.logs))
    expect(readFileSync(join(home.paths.logs, name), 'utf8')).not.toContain('hunter2');
});

test('stopping when nothing runs is not an error and creates nothing', async () => {
  const home = fresh();
  expect(await stopDaemon(home.paths, { kill: false })).toEqual({ ok: true, pid: null });
  expect(existsSync(home.paths.state)).toBe(false);
});

test('a Redis that a killed daemon left behind goes down too', async () => {
  const home = fresh();
  const { pid } = await home.ready();
  await killNow(pid);
  expect(home.redisPids()).toHaveLength(1);
  expect(await stopDaemon(home.paths, { kill: false })).toEqual({ ok: true, pid: null });
  expect(home.redisPids()).toEqual([]);
});

function mkdir(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
