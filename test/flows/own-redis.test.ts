import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startRedis, type TestRedis } from '../support/redis.js';
import { freePort, makeCertificates, startSentinel } from '../support/secure-redis.js';
import { removeFolder, tempFolder } from '../support/temp.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

function boxOn(url: string): FlowBox {
  const box = openFlow({ env: { CMO_REDIS_URL: url } });
  ending.push(() => box.close());
  return box;
}

async function serverOn(port: number, ...args: string[]): Promise<TestRedis> {
  const server = await startRedis({ args: ['--port', String(port), ...args] });
  ending.push(() => server.close());
  return server;
}

const PASSWORD = 'canary:of@a/password';
/** Of the user, as the guide gives them. */
const [, RIGHTS = ''] =
  /^ACL SETUSER cmo on >PASSWORD (.+)$/m.exec(
    readFileSync(new URL('../../docs/guides/redis.md', import.meta.url), 'utf8'),
  ) ?? [];

/** What Redis refused its user, as its own log has it. */
async function refused(server: TestRedis): Promise<string[]> {
  const log = (await server.client().call('ACL', 'LOG', '100')) as string[][];
  return log.map((entry) => String(entry[entry.indexOf('object') + 1]));
}

test('over TLS with a private authority, as a user with the rights in the guide, a batch, a cancel, a retry and a handover all work', async () => {
  const folder = tempFolder('tls');
  ending.push(() => Promise.resolve(removeFolder(folder)));
  const { ca, cert, key } = makeCertificates(folder);
  const port = await freePort();
  const server = await serverOn(
    0,
    '--tls-port',
    String(port),
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    ca,
    '--tls-auth-clients',
    'no',
    '--user',
    'cmo',
    'on',
    `>${PASSWORD}`,
    ...RIGHTS.split(' '),
  );
  const login = `cmo:${encodeURIComponent(PASSWORD)}`;
  const box = boxOn(`rediss://${login}@localhost:${port}/0?ca=${ca}`);
  const file = join(box.work, 'tasks.jsonl');
  writeFileSync(
    file,
    ['[[sim:echo]]', '[[sim:empty times=1 then=echo]]', '[[sim:echo]]']
      .map((prompt) => JSON.stringify({ prompt, role: 'research' }))
      .join('\n'),
  );
  expect((await box.cmo(['run', '--batch', file, '--json'])).code).toBe(0);
  const slow = await box.submit('[[sim:slow seconds=60]]', '--read-only');
  await waitUntil(() => Object.keys(box.starts()).some((attempt) => attempt.startsWith(slow)), {
    what: 'the slow agent to run',
  });
  await box.killDaemon();
  await box.up();
  expect((await box.cmo(['cancel', slow])).code).toBe(0);
  expect((await box.cmo(['retry', slow, '--yes'])).code).toBe(0);
  expect((await box.cmo(['cancel', '--state', 'queued,running', '--yes'])).code).toBe(0);
  for (const { id } of await box.ls()) await box.wait(id);
  for (const words of [
    ['ls'],
    ['status'],
    ['pause', 'codex', '--reason', 'a test'],
    ['resume', 'codex'],
    ['gc'],
    ['limits'],
  ])
    expect((await box.cmo(words)).code, words[0]).toBe(0);
  expect(await problemsAtRestAs(box, server)).toEqual([]);
  expect(RIGHTS).not.toContain('+@all');
  expect(await refused(server)).toEqual([]);

  // Nobody reads the password anywhere.
  const doctor = await box.cmo(['doctor']);
  const status = await box.cmo(['status', '--json']);
  expect(status.stdout).toContain(`rediss://localhost:${port}`);
  const logs = readdirSync(box.paths.logs).map((name) => readFileSync(join(box.paths.logs, name), 'utf8'));
  for (const text of [
    doctor.stdout,
    doctor.stderr,
    status.stdout,
    (await box.cmo(['config', 'show', '--origin'])).stdout,
    ...logs,
  ]) {
    expect(text).not.toMatch(/canary/);
  }
});

/** The audit looks with rights that its user has not: by the socket. */
async function problemsAtRestAs(box: FlowBox, server: TestRedis): Promise<string[]> {
  const ids = (await box.ls()).map(({ id }) => id);
  return problemsAtRest({ ...box, redis: () => server.client() }, ids);
}

test.each([
  [
    'the authority is another',
    (port: number, _ca: string, other: string) => `rediss://localhost:${port}?ca=${other}`,
    /certificate/i,
  ],
  ['no authority is named', (port: number) => `rediss://localhost:${port}`, /certificate/i],
  [
    'the file of the authority is not there',
    (port: number, ca: string) => `rediss://localhost:${port}?ca=${ca}.gone`,
    /ENOENT.*\.gone/,
  ],
  [
    'the password is wrong',
    (port: number, ca: string) => `rediss://cmo:canary@localhost:${port}?ca=${ca}`,
    /WRONGPASS/,
  ],
])('when %s, it is refused with exit 5, in words that name no password', async (_what, urlOf, words) => {
  const folder = tempFolder('tls');
  ending.push(() => Promise.resolve(removeFolder(folder)));
  const { ca, cert, key } = makeCertificates(folder);
  const other = tempFolder('tls');
  ending.push(() => Promise.resolve(removeFolder(other)));
  const port = await freePort();
  await serverOn(
    0,
    '--tls-port',
    String(port),
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    ca,
    '--tls-auth-clients',
    'no',
  );
  const box = boxOn(urlOf(port, ca, makeCertificates(other).ca));
  const { code, stdout, stderr } = await box.cmo(['submit', '--json'], { input: 'never' });
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'CMO_E_REDIS' } });
  expect(stdout).toMatch(words);
  expect(stdout + stderr).not.toMatch(/canary/);
});

test('Sentinel: the primary is killed under running and waiting work, and all of it ends by the replica, once', async () => {
  const folder = tempFolder('sentinel');
  ending.push(() => Promise.resolve(removeFolder(folder)));
  const [first, second] = [await freePort(), await freePort()];
  // The replica has its own users: those of the primary are not replicated.
  const args = ['--bind', '127.0.0.1', '--user', 'cmo', 'on', `>${PASSWORD}`, ...RIGHTS.split(' ')];
  const primary = await serverOn(first, ...args);
  const replica = await serverOn(second, ...args, '--replicaof', '127.0.0.1', String(first));
  const sentinel = await startSentinel(folder, 'canary-of-the-sentinel', { name: 'night', port: first });
  ending.push(() => sentinel.close());
  const box = boxOn(
    `redis+sentinel://cmo:${encodeURIComponent(PASSWORD)}@127.0.0.1:1,127.0.0.1:${sentinel.port}/night?sentinelPassword=canary-of-the-sentinel`,
  );
  const go = join(box.folder, 'go');
  const running = [
    await box.submit(untilThere(go), '--pin', 'codex'),
    await box.submit(untilThere(go), '--pin', 'claude'),
  ];
  await waitUntil(() => box.ledger().length === 2, { what: 'two agents to run' });
  expect((await box.cmo(['pause', 'codex', '--reason', 'a test'])).code).toBe(0);
  const waiting = [
    await box.submit('[[sim:echo]]', '--pin', 'codex', '--no-failover'),
    await box.submit('[[sim:echo]]', '--not-before', '3s', '--pin', 'claude'),
  ];
  // What a replica has not got yet is lost with its primary; that is another test's matter.
  await primary.client().wait(1, 5_000);

  const daemon = box.daemon();
  await primary.kill();
  await waitUntil(async () => (await sentinel.primary()) === second, { what: 'the Sentinel to fail over' });
  writeFileSync(go, '');
  await waitUntil(async () => (await box.cmo(['resume', 'codex'])).code === 0, { what: 'a resume to go through' });
  for (const id of [...running, ...waiting]) expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(box.daemon()).toBe(daemon);
  expect((await replica.client().role())[0]).toBe('master');
  expect(await problemsAtRestAs(box, replica)).toEqual([]);
  expect(Object.values(box.starts())).toEqual([1, 1, 1, 1]);
  expect(await refused(replica)).toEqual([]);
  expect((await box.cmo(['status'])).stdout).toContain(`redis+sentinel://127.0.0.1:1,127.0.0.1:${sentinel.port}/night`);
  expect((await box.cmo(['status', '--json'])).stdout).not.toMatch(/canary/);
});
