import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openForkServer, type ForkServer, type Spawned } from '#runner';
import { isAlive, killNow, waitGone } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { BIN, nodeProgram } from './support.js';

const open: ForkServer[] = [];
const begun: number[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) server.close();
  for (const pid of begun.splice(0)) await killNow(pid);
});

function opened(script: string): ForkServer {
  const server = openForkServer(script);
  open.push(server);
  return server;
}

async function started(server: ForkServer, ...words: string[]): Promise<Extract<Spawned, { ok: true }>> {
  const [file = '', ...args] = words;
  const spawned = await server.fork({ file, args, env: { ONLY: 'it\'s\n"this"' } });
  if (!spawned.ok) throw new Error(spawned.why);
  begun.push(spawned.pid);
  return spawned;
}

/** [parent, group, session] */
function relationsOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(1, 4)
    .map(Number);
}

const serverPid = (server: ForkServer): number => server.pid() ?? 0;

test('it starts programs, each in a session of its own, with the given arguments and only the given environment', async () => {
  const server = opened(await nodeProgram());
  const out = join(tempFolder('fork'), 'out');
  const { exited } = await started(
    server,
    '/bin/sh',
    '-c',
    'env >"$1"; printf %s "$2" >>"$1"; exit 7',
    'sh',
    out,
    'a "word"\nof two lines',
  );
  expect(await exited).toBe(7);
  expect(readFileSync(out, 'utf8').replace(/^(PWD|SHLVL|_|OLDPWD)=.*\n/gm, '')).toBe(
    'ONLY=it\'s\n"this"\na "word"\nof two lines',
  );
  const { pid } = await started(server, `${BIN}sleeps-forever`);
  expect(relationsOf(pid)).toEqual([serverPid(server), pid, pid]);
});

test('a program that cannot be started is reported with its reason, and the next start works', async () => {
  const server = opened(await nodeProgram());
  expect(await server.fork({ file: '/no/such/program', args: [], env: {} })).toMatchObject({
    ok: false,
    why: expect.stringContaining('ENOENT') as string,
  });
  expect(await server.fork({ file: '/bin/echo', args: ['x'.repeat(3_000_000)], env: {} })).toMatchObject({
    ok: false,
    why: expect.stringContaining('E2BIG') as string,
  });
  expect(await (await started(server, '/bin/true')).exited).toBe(0);
});

test('when it is killed, the programs it started go on, unanswered requests are started without it, and the next start gets a new server', async () => {
  const server = opened(await nodeProgram());
  const first = await started(server, `${BIN}sleeps-forever`);
  const old = serverPid(server);
  process.kill(old, 'SIGSTOP');
  const asked = started(server, `${BIN}sleeps-forever`);
  await killNow(old);
  const second = await asked;
  expect(relationsOf(second.pid)[0]).toBe(process.pid);
  expect(isAlive(first.pid)).toBe(true);
  const third = await started(server, `${BIN}sleeps-forever`);
  expect(serverPid(server)).not.toBe(old);
  expect(relationsOf(third.pid)[0]).toBe(serverPid(server));
});

test('one that never comes up is given up on, and programs are started without it', async () => {
  const broken = join(tempFolder('fork'), 'broken.mjs');
  writeFileSync(broken, 'process.exit(1)\n');
  const server = opened(broken);
  for (let i = 0; i < 5; i++) expect(await (await started(server, '/bin/true')).exited).toBe(0);
  expect(server.pid()).toBeNull();
  const { pid } = await started(server, `${BIN}sleeps-forever`);
  expect(relationsOf(pid)[0]).toBe(process.pid);
});

test('it leaves when it is closed, and what it started goes on', async () => {
  const server = opened(await nodeProgram());
  const { pid } = await started(server, `${BIN}sleeps-forever`);
  const own = serverPid(server);
  server.close();
  await waitGone(own);
  expect(isAlive(pid)).toBe(true);
});
