import { afterEach, expect, test } from 'vitest';
import { takePulse, type Pulse } from '#store';
import { signal } from '../../support/processes.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { waitUntil } from '../../support/wait-until.js';

let server: TestRedis;
let pulse: Pulse;
afterEach(async () => {
  pulse.stop();
  await server.close();
});

const QUICK = { everyMs: 50, patienceMs: 200, halfOpenMs: 600 };

test('a Redis that was killed is away at once, and answers from its return on', async () => {
  server = await startRedis();
  const redis = server.client();
  pulse = takePulse(redis, QUICK);
  await waitUntil(() => pulse.answersMs() > 0);
  const closed = new Promise((resolve) => redis.once('close', resolve));
  await server.kill();
  await closed;
  expect(pulse.awayMs()).not.toBeNull();
  await server.start();
  await waitUntil(() => pulse.awayMs() === null, { what: 'it to answer again' });
  expect(pulse.answersMs()).toBeLessThan(10_000);
});

test('a stopped Redis counts as away although every connection looks fine, and commands in flight are sent again on a new connection', async () => {
  server = await startRedis();
  const redis = server.client();
  pulse = takePulse(redis, QUICK);
  await waitUntil(() => pulse.answersMs() > 0);
  signal(server.pid(), 'SIGSTOP');
  try {
    const asked = redis.incr('asked');
    expect(redis.status).toBe('ready');
    await waitUntil(() => pulse.awayMs() !== null, { what: 'its silence to be noticed' });
    let made = 0;
    redis.on('close', () => (made += 1));
    await waitUntil(() => made > 0, { what: 'the connection to be made anew' });
    signal(server.pid(), 'SIGCONT');
    expect(await asked).toBeGreaterThan(0);
    await waitUntil(() => pulse.awayMs() === null, { what: 'it to answer again' });
  } finally {
    signal(server.pid(), 'SIGCONT');
  }
});

test('a Redis that a script of somebody keeps busy is away for as long, and its connection stays', async () => {
  server = await startRedis({ args: ['--busy-reply-threshold', '1'] });
  const redis = server.client();
  pulse = takePulse(redis, QUICK);
  await waitUntil(() => pulse.answersMs() > 0);
  let closed = 0;
  redis.on('close', () => (closed += 1));
  // Made before: a busy Redis lets nobody begin.
  const [other, killer] = [server.client(), server.client()];
  await Promise.all([other.ping(), killer.ping()]);
  const blocked = other.eval('while true do end', 0).catch(() => 'killed');
  await waitUntil(() => pulse.awayMs() !== null, { what: 'it to be seen as busy' });
  await killer.script('KILL');
  expect(await blocked).toBe('killed');
  await waitUntil(() => pulse.awayMs() === null, { what: 'it to answer again' });
  expect(closed).toBe(0);
});
