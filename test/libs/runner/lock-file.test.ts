import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { identityOf, ownIdentity, readLock, take, type HeldLock, type ProcessIdentity } from '#runner';
import { onLeave } from '../../support/on-leave.js';
import { killNow, signal, waitGone } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

const dead: ProcessIdentity = { pid: 1, ticks: -1, bootId: 'of another boot' };

async function mustTake(path: string, fields = {}): Promise<HeldLock> {
  const lock = await take(path, fields);
  if (!lock.taken) throw new Error(`held by ${JSON.stringify(lock.owner)}`);
  return lock;
}

test('a taken lock refuses others and names its living owner and what it said', async () => {
  const path = join(tempFolder('lock'), 'daemon.lock');
  const lock = await mustTake(path, { socket: '/some/where', port: 7 });
  expect(await take(path)).toEqual({
    taken: false,
    alive: true,
    owner: { identity: ownIdentity(), fields: { socket: '/some/where', port: 7 } },
  });
  await lock.release();
  expect(existsSync(path)).toBe(false);
  await (await mustTake(path)).release();
});

test('only the lock file is in the folder, and after its release nothing is', async () => {
  const folder = tempFolder('lock');
  const lock = await mustTake(join(folder, 'daemon.lock'));
  await take(join(folder, 'daemon.lock'));
  expect(readdirSync(folder)).toEqual(['daemon.lock']);
  await lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

test('a dead owner’s lock is taken over by exactly one of many', async () => {
  for (let round = 0; round < 20; round++) {
    const folder = tempFolder('lock');
    const path = join(folder, 'redis.lock');
    await take(path, {}, { owner: dead });
    const takers = await Promise.all(Array.from({ length: 16 }, () => take(path)));
    expect(takers.filter((one) => one.taken)).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['redis.lock']);
  }
});

test('a process that died while replacing an abandoned lock blocks nobody', async () => {
  const folder = tempFolder('lock');
  const path = join(folder, 'start.lock');
  await take(path, {}, { owner: dead });
  // Its guard is named after the abandoned content: let a dead process hold that one, and the next one after it.
  const { createHash } = await import('node:crypto');
  const guardOf = (file: string): string =>
    `${file}.${createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)}`;
  await take(guardOf(path), {}, { owner: dead });
  await take(guardOf(guardOf(path)), {}, { owner: dead });
  const takers = await Promise.all(Array.from({ length: 8 }, () => take(path)));
  expect(takers.filter((one) => one.taken)).toHaveLength(1);
  expect(readdirSync(folder)).toEqual(['start.lock']);
});

test('a file that cannot be read has no living owner', async () => {
  for (const content of ['', 'not json', '{}', 'null', '{"pid":"1"}']) {
    const path = join(tempFolder('lock'), 'daemon.lock');
    writeFileSync(path, content);
    await mustTake(path);
  }
});

test('a lock may be handed to a process that outlives its taker', async () => {
  const path = join(tempFolder('lock'), 'redis.lock');
  const lock = await mustTake(path, { state: 'starting' });
  const { pid = 0 } = spawn('sleep', ['1000'], { stdio: 'ignore' });
  onLeave(() => signal(pid, 'SIGKILL'));
  const heir = await waitUntil(() => identityOf(pid));
  expect(await lock.update({ redisPid: pid }, heir)).toBe(true);
  await lock.release();
  expect(await readLock(path)).toEqual({ identity: heir, fields: { redisPid: pid } });
  expect(await take(path)).toMatchObject({ taken: false, alive: true });
  await killNow(pid);
  await (await mustTake(path)).release();
});

test('a lock that was removed by hand is neither updated nor released into another’s', async () => {
  const path = join(tempFolder('lock'), 'daemon.lock');
  const first = await mustTake(path);
  unlinkSync(path);
  const second = await mustTake(path);
  expect(await first.update({ late: true })).toBe(false);
  await first.release();
  expect(await take(path)).toMatchObject({ taken: false });
  await second.release();
  expect(await readLock(path)).toBeNull();
});

test('many processes, killed at any moment, are never two inside, and none is kept out for ever', async () => {
  const folder = tempFolder('contend');
  const outfile = join(folder, 'contender.mjs');
  await build({
    entryPoints: [new URL('./fixtures/contender.ts', import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['cmo-source'],
    logLevel: 'warning',
  });
  const [lock, room, violations, ledger] = ['lock', 'room', 'violations', 'ledger'].map((name) => join(folder, name));
  for (const file of [violations, ledger]) writeFileSync(file ?? '', '');
  const living = new Set<number>();
  const seed = Date.now() % 100_000;
  let drawn = seed;
  const random = (): number => (drawn = (drawn * 16_807 + 11) % 2_147_483_647) / 2_147_483_647;
  const launch = (): void => {
    const { pid = 0 } = spawn(process.execPath, [outfile, lock, room, violations, ledger].map(String), {
      stdio: 'ignore',
    });
    living.add(pid);
    onLeave(() => signal(pid, 'SIGKILL'));
  };
  for (let i = 0; i < 10; i++) launch();
  const turns = (): number => readFileSync(ledger ?? '', 'utf8').split('\n').length - 1;
  await waitUntil(() => turns() > 20, { what: 'the contenders to come up' });
  // No faster: a new process needs its time to come up, and one contender alone proves nothing.
  for (let kill = 0; kill < 20; kill++) {
    await sleep(random() * 250);
    const owner = (await readLock(lock ?? ''))?.identity?.pid;
    const victim =
      owner !== undefined && living.has(owner) && random() < 0.8
        ? owner
        : ([...living][Math.floor(random() * living.size)] ?? 0);
    signal(victim, 'SIGKILL');
    living.delete(victim);
    launch();
  }
  const before = turns();
  await waitUntil(() => turns() > before + 20, { what: `turns to go on (seed ${seed})` });
  for (const pid of living) signal(pid, 'SIGKILL');
  await Promise.all([...living].map((pid) => waitGone(pid)));
  expect([seed, readFileSync(violations ?? '', 'utf8')]).toEqual([seed, '']);
});
