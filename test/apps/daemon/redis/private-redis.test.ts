import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Redis } from 'ioredis';
import { ensurePrivateRedis, stopPrivateRedis } from '#daemon/redis/private-redis';
import { take } from '#runner/lock-file';
import { identityOf } from '#runner/process-identity';
import { isAlive, killNow, signal, waitGone } from '../../../support/processes.js';
import { waitUntil } from '../../../support/wait-until.js';
import { testPlace, type TestPlace } from './place.js';

const open: TestPlace[] = [];
afterEach(async () => {
  for (const place of open.splice(0)) await place.close();
});

function fresh(change: Parameters<typeof testPlace>[0] = {}): TestPlace {
  const place = testPlace(change);
  open.push(place);
  return place;
}

async function up(options: TestPlace): Promise<{ socket: string; pid: number; started: boolean }> {
  const found = await ensurePrivateRedis(options);
  if (!found.ok) throw new Error(JSON.stringify(found.error));
  return found.redis;
}

async function say<T>(socket: string, what: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ path: socket, maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  try {
    return await what(redis);
  } finally {
    redis.disconnect();
  }
}

/** A stand-in for redis-server that does this. */
function program(place: TestPlace, script: string): string {
  const folder = join(place.state, 'bin');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'redis-server');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('a private Redis has no port, keeps what it acknowledged, throws nothing away, and is for its owner alone', async () => {
  const place = fresh();
  const { socket, pid, started } = await up(place);
  expect(started).toBe(true);
  expect(place.servers()).toEqual([pid]);
  expect(await place.lockedPid()).toBe(pid);
  const settings = await say(socket, async (redis) =>
    Promise.all(
      ['port', 'appendonly', 'appendfsync', 'maxmemory-policy', 'save', 'hash-max-ziplist-value'].map((name) =>
        redis.config('GET', name),
      ),
    ),
  );
  expect((settings as string[][]).map((pair) => pair[1])).toEqual(['0', 'yes', 'everysec', 'noeviction', '', '2048']);
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect(statSync(place.place.log).mode & 0o077).toBe(0);
  for (const name of readdirSync(place.place.folder))
    expect(statSync(join(place.place.folder, name)).mode & 0o077, name).toBe(0);
});

test('one that runs is used', async () => {
  const place = fresh();
  const first = await up(place);
  expect(await up(place)).toEqual({ ...first, started: false });
});

test('of many who start at once one starts a server', async () => {
  const place = fresh();
  const all = await Promise.all(Array.from({ length: 8 }, () => up(place)));
  expect(new Set(all.map(({ pid }) => pid)).size).toBe(1);
  expect(all.filter(({ started }) => started)).toHaveLength(1);
  expect(place.servers()).toHaveLength(1);
});

test('after a kill -9 the next one has what the file holds', async () => {
  const place = fresh();
  const first = await up(place);
  await say(first.socket, (redis) => redis.set('a', '1'));
  await killNow(first.pid);
  const second = await up(place);
  expect(second.started).toBe(true);
  expect(await say(second.socket, (redis) => redis.get('a'))).toBe('1');
  expect(place.servers()).toEqual([second.pid]);
});

test('a server whose socket file was removed by hand is asked to leave, and its data is in the one that follows', async () => {
  const place = fresh();
  const first = await up(place);
  await say(first.socket, (redis) => redis.set('a', '1'));
  rmSync(first.socket);
  const second = await up(place);
  expect(second.pid).not.toBe(first.pid);
  expect(isAlive(first.pid)).toBe(false);
  expect(await say(second.socket, (redis) => redis.get('a'))).toBe('1');
  expect(place.servers()).toEqual([second.pid]);
});

test('a server is found on its folder when the lock was removed too', async () => {
  const place = fresh();
  const first = await up(place);
  rmSync(place.place.lock);
  expect(await up(place)).toEqual({ ...first, started: false });
  expect(await place.lockedPid()).toBe(first.pid);
  rmSync(place.place.lock);
  rmSync(first.socket);
  const second = await up(place);
  expect(place.servers()).toEqual([second.pid]);
  expect(isAlive(first.pid)).toBe(false);
});

test.each([
  '',
  'no json',
  '{"pid":1}',
  '{"pid":"x","ticks":null}',
  '{"pid":4194303,"ticks":1,"bootId":"other","role":"server"}',
])('a lock file that reads %j does not lead to a second server', async (text) => {
  const place = fresh();
  const first = await up(place);
  writeFileSync(place.place.lock, text);
  expect(await up(place)).toEqual({ ...first, started: false });
  expect(place.servers()).toEqual([first.pid]);
});

test('the lock of a pid that another process has by now is not believed', async () => {
  const place = fresh();
  const own = identityOf(process.pid);
  writeFileSync(place.place.lock, JSON.stringify({ ...own, ticks: 1, role: 'server' }));
  const { pid } = await up(place);
  expect(place.servers()).toEqual([pid]);
});

test('a starter that died after its server was started leaves no second one', async () => {
  const place = fresh();
  const first = await up(place);
  rmSync(place.place.lock);
  // The lock as that starter had it, and it is dead.
  writeFileSync(
    place.place.lock,
    JSON.stringify({ role: 'starter', pid: 4_194_303, ticks: 1, bootId: 'gone', nonce: 'n' }),
  );
  expect((await up(place)).pid).toBe(first.pid);
  expect(place.servers()).toEqual([first.pid]);
});

test('while another process is starting one, it is waited for', async () => {
  const place = fresh();
  const lock = await take(place.place.lock, { role: 'starter' });
  if (!lock.taken) throw new Error('taken');
  let done = false;
  const waiting = up(place).finally(() => (done = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(done).toBe(false);
  expect(place.servers()).toEqual([]);
  await lock.release();
  expect((await waiting).started).toBe(true);
});

test('a server that hangs and does not leave is never left beside a second one', async () => {
  const place = fresh({ patience: { startMs: 10_000, loadingMs: 20_000, quietMs: 200, leaveMs: 500 } });
  const first = await up(place);
  signal(first.pid, 'SIGSTOP');
  const found = await ensurePrivateRedis(place);
  expect(found).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_REDIS', fix: expect.stringContaining(`kill ${first.pid}`) as string },
  });
  expect(place.servers()).toEqual([first.pid]);
  signal(first.pid, 'SIGCONT');
  await waitGone(first.pid);
});

test('a server that cannot run at all is an error that says how to install it', async () => {
  const place = fresh({ program: null });
  expect(await ensurePrivateRedis(place)).toMatchObject({ ok: false, error: { code: 'CMO_E_REDIS_MISSING' } });
  expect(existsSync(place.place.lock)).toBe(false);
});

test.each([
  ['leaves at once', 'echo "no such option" >&2; exit 1', 'no such option'],
  ['is no program', 'exec /nonexistent', 'exit code'],
  ['never answers', 'exec sleep 600', 'did not answer'],
])('a server that %s is an error with its words, and nothing is left behind', async (_what, script, words) => {
  const place = fresh();
  place.program = program(place, script);
  place.patience = { ...place.patience, startMs: 500 };
  const found = await ensurePrivateRedis(place);
  if (found.ok) throw new Error('it started');
  expect(found.error.code).toBe('CMO_E_REDIS');
  expect(found.error.details?.join('\n')).toContain(words);
  expect(place.servers()).toEqual([]);
  expect(existsSync(place.place.lock)).toBe(false);
  expect(readdirSync(join(place.state, 'sockets'))).toEqual([]);
  expect(readdirSync(place.place.folder)).toEqual([]);
});

test('a Redis of another folder on our socket is refused, and left alone', async () => {
  const [place, other] = [fresh(), fresh()];
  other.place.socket = place.place.socket;
  const foreign = await up(other);
  expect(await ensurePrivateRedis(place)).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_REDIS', message: 'a foreign Redis has taken our socket' },
  });
  expect(isAlive(foreign.pid)).toBe(true);
  expect(place.servers()).toEqual([]);
});

test('the socket that the running server was given is used, wherever a new one would be put', async () => {
  const place = fresh();
  const first = await up(place);
  const elsewhere = { ...place, place: { ...place.place, socket: join(place.state, 'elsewhere.sock') } };
  expect(await up(elsewhere as TestPlace)).toEqual({ ...first, started: false });
});

test('a stop lets it close its file, and takes lock and socket away', async () => {
  const place = fresh();
  const first = await up(place);
  await say(first.socket, (redis) => redis.set('a', '1'));
  expect(await stopPrivateRedis(place.place, place.patience)).toBe(true);
  expect(isAlive(first.pid)).toBe(false);
  expect(existsSync(place.place.lock)).toBe(false);
  expect(existsSync(first.socket)).toBe(false);
  const second = await up(place);
  expect(await say(second.socket, (redis) => redis.get('a'))).toBe('1');
});

test('stopping when none runs is not an error', async () => {
  const place = fresh();
  expect(await stopPrivateRedis(place.place, place.patience)).toBe(true);
  rmSync(place.state, { recursive: true });
  expect(await stopPrivateRedis(place.place, place.patience)).toBe(true);
});

test('a file with a hole, as a full disk leaves it, is repaired at the next start, and nothing after the hole is lost', async () => {
  const place = fresh();
  const first = await up(place);
  await say(first.socket, (redis) => redis.set('before', '1'));
  await killNow(first.pid);
  const files = join(place.place.folder, 'appendonlydir');
  const last =
    readdirSync(files)
      .filter((name) => name.endsWith('.incr.aof'))
      .sort()
      .at(-1) ?? '';
  appendFileSync(join(files, last), `${'\0'.repeat(316)}*3\r\n$3\r\nSET\r\n$6\r\nbehind\r\n$1\r\n2\r\n`);
  const second = await up(place);
  expect(await say(second.socket, (redis) => redis.mget('before', 'behind'))).toEqual(['1', '2']);
  expect(place.heard.some((line) => line.includes('holes'))).toBe(true);
});

/** The file that it wrote last, and what it has written of it. */
function lastFile(place: TestPlace): string {
  const files = join(place.place.folder, 'appendonlydir');
  const [last = ''] = readdirSync(files)
    .filter((name) => name.endsWith('.incr.aof'))
    .sort((one, other) => Number(other.split('.')[2]) - Number(one.split('.')[2]));
  return join(files, last);
}

const both = (redis: Redis, one: string, other: string): Promise<unknown> =>
  redis.eval("redis.call('SET', KEYS[1], '1') redis.call('SET', KEYS[2], '1')", 2, one, other);

test('a file that a power cut tore inside a script is whole again after the first start, so later writes are not swallowed by half a script', async () => {
  const place = fresh();
  const first = await up(place);
  await say(first.socket, (redis) => both(redis, 'before-1', 'before-2'));
  await say(first.socket, (redis) => both(redis, 'torn-1', 'torn-2'));
  await killNow(first.pid);
  const file = lastFile(place);
  // In the middle of the second command of the block: Redis itself cuts behind the first, and keeps the open block.
  truncateSync(file, readFileSync(file).lastIndexOf('torn-2') + 2);

  const second = await up(place);
  await say(second.socket, (redis) => both(redis, 'later-1', 'later-2'));
  await waitUntil(async () =>
    (await say(second.socket, (redis) => redis.info('persistence'))).includes('aof_rewrite_in_progress:0'),
  );
  await killNow(second.pid);
  const third = await up(place);
  expect(
    await say(third.socket, (redis) => redis.mget('before-1', 'before-2', 'torn-1', 'torn-2', 'later-1', 'later-2')),
  ).toEqual(['1', '1', null, null, '1', '1']);
});

test('a server that was killed while it rewrote a torn file starts again, although Redis refuses a torn part that is not the last', async () => {
  const place = fresh();
  const first = await up(place);
  await say(first.socket, (redis) => both(redis, 'before-1', 'before-2'));
  await say(first.socket, (redis) => both(redis, 'torn-1', 'torn-2'));
  await killNow(first.pid);
  const file = lastFile(place);
  truncateSync(file, readFileSync(file).lastIndexOf('torn-2') + 2);

  // It is not half through with the first key when it is killed.
  const slow = { ...place, program: program(place, `exec ${place.program} "$@" --rdb-key-save-delay 5000000`) };
  const second = await up(slow);
  await say(second.socket, (redis) => both(redis, 'later-1', 'later-2'));
  expect(await say(second.socket, (redis) => redis.info('persistence'))).toContain('aof_rewrite_in_progress:1');
  await killNow(second.pid);
  const third = await up(place);
  expect(
    await say(third.socket, (redis) => redis.mget('before-1', 'before-2', 'torn-1', 'torn-2', 'later-1', 'later-2')),
  ).toEqual(['1', '1', null, null, '1', '1']);
  expect(place.heard.some((line) => line.includes('started again'))).toBe(true);
});
