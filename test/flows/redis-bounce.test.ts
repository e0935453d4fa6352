import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { isEnded, type DispatchRow, type HealthData } from '#contract';
import { call } from '../apps/daemon/home.js';
import { signal, waitGone } from '../support/processes.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { sleep, waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
let server: TestRedis;
afterEach(async () => {
  await box.close();
  await server.close();
});

/**
 * Longer than ioredis' longest pause (1 s), BullMQ's after a failed
 * wait (5 s), and the time after which a wait is asked again.
 */
const AWAY_MS = 15_000;
const WAITING = 50;
const DELAYED = 20;

/** As many dispatches of one prompt, in one submit. */
async function many(prompt: string, times: number, ...flags: string[]): Promise<string[]> {
  batches += 1;
  const file = join(box.folder, `batch-${batches}.jsonl`);
  writeFileSync(file, `${JSON.stringify({ prompt })}\n`.repeat(times));
  const ran = await box.cmo(['submit', '--batch', file, '--json', ...flags]);
  if (ran.code !== 0) throw new Error(ran.stderr);
  return (await box.ls('--batch', (JSON.parse(ran.stdout) as { data: { batch: string } }).data.batch)).map(
    ({ id }) => id,
  );
}
let batches = 0;

const ready = (): ReturnType<typeof call<HealthData>> => call<HealthData>(box.paths.apiSocket, 'GET', '/readyz');

test('fifteen seconds without Redis: agents go on, the outage is reported, and waiting work starts afterwards without help', async () => {
  server = await startRedis();
  box = openFlow({ env: { CMO_REDIS_URL: `unix:${server.socket}` } });
  await box.up();
  const go = join(box.folder, 'go');
  const submit = (prompts: string[], ...flags: string[]): Promise<string[]> =>
    Promise.all(prompts.map((prompt) => box.submit(prompt, ...flags)));
  // Eight places: six are held until long after, two are used by turns.
  const held = [
    ...(await submit(Array<string>(3).fill(untilThere(go)), '--pin', 'codex')),
    ...(await submit(Array<string>(3).fill(untilThere(go)), '--pin', 'claude')),
  ];
  await waitUntil(() => box.ledger().length === 6, { what: 'six agents to run' });
  const [ending] = await submit(['[[sim:slow seconds=5]]'], '--read-only', '--pin', 'codex');
  const failing = await submit(Array<string>(4).fill('[[sim:empty times=1 then=echo]]'), '--role', 'research');
  const later = await many('[[sim:echo]]', DELAYED - failing.length, '--role', 'research', '--not-before', '6s');
  const queued = await many('[[sim:slow seconds=0.3]]', WAITING - held.length - 1, '--read-only');
  const ids = [...held, ending ?? '', ...failing, ...later, ...queued];
  expect(ids).toHaveLength(WAITING + DELAYED);
  await waitUntil(async () => (await box.ls()).some(({ state }) => state === 'retrying'), {
    what: 'one to wait for its retry',
  });
  expect(await ready()).toMatchObject({ ok: true, data: { problems: [] } });

  const daemon = box.daemon();
  await server.stop();
  const away = performance.now();
  expect(
    await waitUntil(async () => ((seen) => (seen.ok ? null : seen.error))(await ready()), {
      what: 'readiness to turn red',
    }),
  ).toMatchObject({ code: 'CMO_E_REDIS' });
  expect(await call(box.paths.apiSocket, 'GET', '/healthz')).toMatchObject({ ok: true });
  const doctor = await box.cmo(['doctor', '--only', 'daemon', '--json']);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/Redis has not answered for/);
  const submitting = box.start(['submit', '--json'], { input: 'nobody takes it' });
  await sleep(Math.max(AWAY_MS - (performance.now() - away), 0));
  // Whoever types is told long before that.
  expect(submitting.child.exitCode).toBe(5);
  const refused = await submitting.ended;
  expect(JSON.parse(refused.stdout)).toMatchObject({
    ok: false,
    error: {
      code: 'CMO_E_REDIS',
      message: expect.stringMatching(/Redis/) as string,
      details: [expect.stringMatching(/^Redis has not answered for/), expect.stringMatching(/nothing was recorded/)],
      fix: expect.stringMatching(/cmo doctor/) as string,
    },
  });
  expect((await ready()).ok).toBe(false);
  // Agents are nobody's hostages: this one ended meanwhile.
  expect(box.ledger().filter(({ event, attempt }) => event === 'end' && attempt === `${ending}.1`)).toHaveLength(1);

  await server.start();
  await waitUntil(async () => (await ready()).ok, { what: 'readiness to come back' });
  const rest = ids.filter((id) => !held.includes(id));
  const rows = await ended(rest);
  expect(rows.map(({ state }) => state)).toEqual(rest.map(() => 'succeeded'));
  writeFileSync(go, '');
  await ended(ids);
  expect(box.daemon()).toBe(daemon);
  const health = await ready();
  if (health.ok) expect(health.data.lanes.map(({ replaced }) => replaced)).toEqual([0, 0]);
  expect(await problemsAtRest(box, ids)).toEqual([]);
}, 120_000);

function ended(ids: readonly string[]): Promise<DispatchRow[]> {
  return waitUntil(
    async () => {
      const rows = (await box.ls().catch(() => [])).filter(({ id, state }) => ids.includes(id) && isEnded(state));
      return rows.length === ids.length ? rows : null;
    },
    { what: `all ${ids.length} to end`, timeoutMs: 60_000, everyMs: 300 },
  );
}

/** The answer to one command, or the error; sent once. */
async function once(command: (client: Redis) => Promise<unknown>): Promise<string> {
  const client = new Redis({
    path: server.socket,
    retryStrategy: null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
  });
  client.on('error', () => undefined);
  const said = await command(client).then(String, String);
  client.disconnect();
  return said;
}

test('Redis is killed in the middle of a script while deliveries and starts wait, and loads its file slowly when it is back: nothing of the script remains, and all work ends, once', async () => {
  server = await startRedis({ args: ['--key-load-delay', '300'] });
  // Something to read: while it does so Redis answers after every thousandth command only.
  const filler = server.client().pipeline();
  for (let n = 0; n < 8_000; n += 1) filler.set(`filler:${n}`, 'x');
  await filler.exec();
  box = openFlow({ env: { CMO_REDIS_URL: `unix:${server.socket}` } });
  await box.up();
  const ids = [
    ...(await many('[[sim:slow seconds=1]]', 24, '--read-only')),
    ...(await many('[[sim:echo]]', 6, '--role', 'research', '--not-before', '3s')),
  ];
  const daemon = box.daemon();
  await waitUntil(() => box.ledger().filter(({ event }) => event === 'start').length >= 8, { what: 'eight to run' });

  const half = once((client) =>
    client.eval(
      "redis.call('SET', 'first-half', '1') local i = 0 while true do i = i + 1 end redis.call('SET', 'second-half', '1')",
      0,
    ),
  );
  // What ends now is told to a server that does not answer.
  const before = box.ledger().filter(({ event }) => event === 'end').length;
  await waitUntil(() => box.ledger().filter(({ event }) => event === 'end').length >= before + 4, {
    what: 'agents to end meanwhile',
  });
  await server.kill();
  const starting = server.start();
  expect(await half).toMatch(/closed/i);
  await waitUntil(async () => (await once((client) => client.get('x'))).includes('LOADING'), {
    what: 'Redis to read its file',
    everyMs: 5,
  });
  expect((await ready()).ok).toBe(false);
  await starting;

  const rows = await ended(ids);
  expect(rows.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
  expect(await box.redis().exists('first-half', 'second-half')).toBe(0);
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.1`, 1])));
  expect(box.daemon()).toBe(daemon);
  expect(await problemsAtRest(box, ids)).toEqual([]);
}, 120_000);

test('a daemon whose Redis is gone for good stops when asked to', async () => {
  server = await startRedis();
  box = openFlow({ env: { CMO_REDIS_URL: `unix:${server.socket}` } });
  await box.up();
  expect((await box.cmo(['run', '--role', 'research'], { input: '[[sim:echo]]' })).code).toBe(0);
  const daemon = box.daemon();
  await server.stop();
  await waitUntil(async () => !(await ready()).ok, { what: 'readiness to turn red' });
  signal(daemon, 'SIGTERM');
  await waitGone(daemon, 60_000);
  await server.start();
}, 120_000);
