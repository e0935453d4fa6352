import { afterEach, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { signal } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';
import { openApi, type TestApi } from './api.js';

const open: TestApi[] = [];
afterEach(async () => {
  for (const it of open.splice(0)) await it.close();
});

async function fresh(): Promise<TestApi> {
  const it = await openApi();
  open.push(it);
  return it;
}

test('while Redis is away every route says so, soon, and goes on when it is back', async () => {
  const it = await fresh();
  const { dispatchId } = await it.submit();
  await it.server.kill();
  const request = it.request();
  const replies = await Promise.all([
    it.send('POST', '/v1/dispatches', { dispatches: [request] }),
    it.send('GET', `/v1/dispatches/${dispatchId}`),
    it.send('GET', '/v1/dispatches'),
    it.send('GET', '/v1/status'),
    it.send('POST', `/v1/dispatches/${dispatchId}/cancel`),
  ]);
  for (const reply of replies) {
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({ ok: false, error: { code: 'CMO_E_REDIS' } });
  }
  await it.server.start();
  await waitUntil(async () => (await it.send('POST', '/v1/dispatches', { dispatches: [request] })).statusCode === 200, {
    what: 'the submit to go through',
  });
  expect(await it.records.read(request.id)).toMatchObject({ state: 'queued' });
});

test('a Redis that accepts connections but never answers is reported too', async () => {
  const it = await fresh();
  signal(it.server.pid(), 'SIGSTOP');
  try {
    const reply = await it.send('GET', '/v1/dispatches');
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({ ok: false, error: { code: 'CMO_E_REDIS' } });
  } finally {
    signal(it.server.pid(), 'SIGCONT');
  }
  expect((await it.send('GET', '/v1/dispatches')).statusCode).toBe(200);
});

test('a Redis that a script of somebody keeps busy is told of as that, never as a bug of cmo', async () => {
  const it = await fresh();
  await it.redis.config('SET', 'busy-reply-threshold', '1');
  // Made before: a busy Redis lets nobody begin.
  const [other, killer] = [it.server.client(), it.server.client()];
  await Promise.all([other.ping(), killer.ping()]);
  const blocked = other.eval('while true do end', 0).catch(() => 'killed');
  await waitUntil(async () => (await it.redis.ping().catch(() => 'busy')) === 'busy', { what: 'Redis to be busy' });
  const replies = await Promise.all([
    it.send('POST', '/v1/dispatches', { dispatches: [it.request()] }),
    it.send('GET', '/v1/dispatches'),
    it.send('GET', '/v1/status'),
  ]);
  await killer.script('KILL');
  expect(await blocked).toBe('killed');
  for (const reply of replies) {
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({
      error: { code: 'CMO_E_REDIS', message: 'Redis is busy with a script and answers nobody now' },
    });
  }
  expect((await it.send('GET', '/v1/dispatches')).statusCode).toBe(200);
});

test('it is alive as long as it answers, and ready while work comes forward; neither question touches Redis', async () => {
  const it = await fresh();
  expect(await it.answer('GET', '/readyz')).toMatchObject({ ok: true, data: { problems: [] } });
  await it.server.kill();
  expect((await it.send('GET', '/healthz')).statusCode).toBe(200);
  for (const [problem, code] of [
    ['Redis has not answered for 2.0 s', 'CMO_E_REDIS'],
    ['the worker of codex@box has asked for no ticket for 31.0 s', 'CMO_E_DAEMON'],
  ] as const) {
    it.health.problems = [problem, 'another'];
    const reply = await it.send('GET', '/readyz');
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({ ok: false, error: { code, message: problem, details: ['another'] } });
  }
});

test('a poll waits a Redis out that is restarted under it', async () => {
  const it = await fresh();
  const { dispatchId } = await it.submit();
  const poll = it.answer<Envelope>('GET', `/v1/dispatches/${dispatchId}?wait=30000`);
  await waitUntil(() => it.api.busy());
  await it.server.restart();
  await waitUntil(
    () =>
      it.end(dispatchId).then(
        () => true,
        () => false,
      ),
    { what: 'Redis to be back' },
  );
  expect(await poll).toMatchObject({ ok: true, data: { state: 'expired' } });
});

test('an error is reported without the content that it was about', async () => {
  const it = await fresh();
  const { dispatchId } = await it.submit();
  await it.redis.set(`cmo:d:${dispatchId}:other`, 'x');
  await it.redis.hset(`cmo:d:${dispatchId}`, 'decision', 'CANARY {');
  const reply = await it.send('GET', `/v1/dispatches/${dispatchId}`);
  expect(reply.statusCode).toBe(500);
  expect(reply.json()).toMatchObject({ ok: false, error: { code: 'CMO_E_BUG' } });
  expect(reply.body).not.toContain('CANARY');
});
