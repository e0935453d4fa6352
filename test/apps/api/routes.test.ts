import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { CancelData, Envelope, ListData, ShowData, StatusData } from '#contract';
import { STATES } from '#contract';
import { newId } from '../../support/records.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());
beforeEach(() => it.redis.flushall());

test('a poll answers as soon as the dispatch ends', async () => {
  const { dispatchId } = await it.submit();
  let answered = false;
  const poll = it.answer<Envelope>('GET', `/v1/dispatches/${dispatchId}?wait=30000`).finally(() => (answered = true));
  await sleep(150);
  expect(answered).toBe(false);
  await it.end(dispatchId);
  expect(await poll).toMatchObject({
    ok: true,
    schema: 'cmo.dispatch/1',
    data: { state: 'expired', error: { code: 'CMO_E_EXPIRED' }, receipts: [{ kind: 'dispatch' }] },
  });
  expect(it.api.busy()).toBe(false);
});

test('an end between the question and the subscription is not missed', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await it.submit()).dispatchId));
  const polls = ids.map((id) => it.answer<Envelope>('GET', `/v1/dispatches/${id}?wait=30000`));
  await Promise.all(ids.map((id) => it.end(id)));
  for (const poll of await Promise.all(polls)) expect(poll).toMatchObject({ ok: true, data: { state: 'expired' } });
});

test('a poll whose time is over says how things stand', async () => {
  const { dispatchId } = await it.submit();
  expect(await it.answer('GET', `/v1/dispatches/${dispatchId}?wait=50`)).toMatchObject({
    ok: true,
    data: { state: 'queued', ok: false },
  });
});

test('many polls of one dispatch all hear of its end', async () => {
  const { dispatchId } = await it.submit();
  const polls = Array.from({ length: 50 }, () => it.answer<Envelope>('GET', `/v1/dispatches/${dispatchId}?wait=30000`));
  await sleep(50);
  await it.end(dispatchId);
  for (const poll of await Promise.all(polls)) expect(poll).toMatchObject({ ok: true, data: { state: 'expired' } });
});

test('a client that leaves takes its poll along', async () => {
  const { dispatchId } = await it.submit();
  const path = join(it.work, 's.sock');
  const server = await listen(path, it);
  const sent = httpRequest({ socketPath: path, path: `/v1/dispatches/${dispatchId}?wait=60000`, agent: false });
  sent.on('error', () => undefined);
  sent.end();
  await waitUntil(() => it.api.busy(), { what: 'the poll to be open' });
  sent.destroy();
  await waitUntil(() => !it.api.busy(), { what: 'the poll to be gone' });
  server.close();
});

test.each([
  `/v1/dispatches/${newId()}`,
  `/v1/dispatches/${newId()}?wait=10000`,
  `/v1/dispatches/${newId()}/show`,
  '/v1/dispatches/d-1',
  '/v1/dispatches/__proto__',
])('GET %s finds nothing', async (url) => {
  const reply = await it.send('GET', url);
  expect(reply.statusCode).toBe(404);
  expect(reply.json()).toMatchObject({ ok: false, error: { code: 'CMO_E_NO_DISPATCH' } });
});

test.each(['?wait=-1', '?wait=soon', '?wait=1e3', '?wait=1&wait=2'])('a wait of %s is refused', async (query) => {
  const { dispatchId } = await it.submit();
  expect((await it.send('GET', `/v1/dispatches/${dispatchId}${query}`)).json()).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_UNKNOWN_VALUE' },
  });
});

test('a listing has the newest first, by state and by batch', async () => {
  const [first, second, third] = [
    await it.submit({ batch: 'a' }),
    await it.submit({ batch: 'b', role: 'judge' }),
    await it.submit({ batch: 'a' }),
  ];
  await it.end(first.dispatchId);
  const list = async (query: string): Promise<string[]> => {
    const answer = await it.answer<ListData>('GET', `/v1/dispatches${query}`);
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.data.dispatches.map(({ id }) => id);
  };
  expect(await list('')).toEqual([third, second, first].map(({ dispatchId }) => dispatchId));
  expect(await list('?state=expired,failed')).toEqual([first.dispatchId]);
  expect(await list('?batch=a')).toEqual([third.dispatchId, first.dispatchId]);
  expect(await list('?batch=a&state=queued')).toEqual([third.dispatchId]);
  expect(await list('?limit=1')).toEqual([third.dispatchId]);
  expect(await list('?batch=nobody')).toEqual([]);
  const answer = await it.answer<ListData>('GET', '/v1/dispatches?batch=b');
  expect(answer.ok && answer.data.dispatches[0]).toMatchObject({
    state: 'queued',
    lane: 'codex',
    vendor: 'openai',
    role: 'judge',
    class: 'batch',
    project: 'work',
    attempts: 0,
    waiting: { for: 'slot' },
    error: null,
  });
});

test.each(['?state=ended', '?state=', '?limit=0', '?limit=many', '?batch=', '?colour=red'])(
  'a listing by %s is refused',
  async (query) => {
    expect((await it.send('GET', `/v1/dispatches${query}`)).statusCode).toBe(400);
  },
);

test('show has the whole record and its receipts', async () => {
  const { dispatchId } = await it.submit({ prompt: 'CANARY' });
  await it.end(dispatchId);
  const answer = await it.answer<ShowData>('GET', `/v1/dispatches/${dispatchId}/show`);
  expect(answer).toMatchObject({
    ok: true,
    schema: 'cmo.show/1',
    data: {
      record: { id: dispatchId, state: 'expired' },
      receipts: [{ kind: 'dispatch', id: dispatchId }],
      waiting: null,
    },
  });
  expect(JSON.stringify(answer)).not.toContain('CANARY');
});

test('a cancel of waiting work ends it at once, with its receipt line; a second cancel changes nothing', async () => {
  const { dispatchId } = await it.submit();
  const cancel = (): Promise<unknown> => it.answer<CancelData>('POST', `/v1/dispatches/${dispatchId}/cancel`);
  expect(await cancel()).toEqual({
    schema: 'cmo.cancel/1',
    ok: true,
    data: { id: dispatchId, state: 'cancelled', how: 'cancelled' },
  });
  expect((await it.lines()).filter(({ id }) => id === dispatchId)).toMatchObject([
    { kind: 'dispatch', state: 'cancelled' },
  ]);
  expect(await cancel()).toMatchObject({ data: { state: 'cancelled', how: 'already-ended' } });
  expect(await it.answer('POST', `/v1/dispatches/${newId()}/cancel`)).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_NO_DISPATCH' },
  });
});

test('status has the daemon, the counts of every state and each lane’s windows', async () => {
  await it.submit();
  const now = Date.now();
  await it.gate.read({
    account: 'codex',
    windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 40, resetsAt: now + 60_000, scope: null }],
    source: 'test',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
  const answer = await it.answer<StatusData>('GET', '/v1/status');
  if (!answer.ok) throw new Error(answer.error.message);
  expect(Object.keys(answer.data.counts).sort()).toEqual([...STATES].sort());
  expect(answer.data).toMatchObject({
    pid: 1,
    node: 'test-node',
    counts: { queued: 1 },
    lanes: [
      {
        id: 'codex',
        installed: true,
        endpoint: null,
        inFlight: 0,
        closed: null,
        reading: { source: 'test' },
        windows: [{ id: 'five_hour', usedPercent: 40, effective: 40 }],
      },
      { id: 'claude', windows: [], reading: null },
    ],
  });
});

test('a shutdown is answered before it happens', async () => {
  const reply = await it.send('POST', '/v1/shutdown', { kill: true });
  expect(reply.json()).toMatchObject({ schema: 'cmo.shutdown/1', ok: true, data: { kill: true, keepRedis: false } });
  await waitUntil(() => it.shutdowns.length === 1);
  expect(it.shutdowns).toEqual([{ kill: true, keepRedis: false }]);
  expect((await it.send('POST', '/v1/shutdown', { kill: 'yes' })).statusCode).toBe(400);
  expect((await it.send('POST', '/v1/shutdown', { force: true })).statusCode).toBe(400);
});

test('closing answers open polls with how things stand', async () => {
  const other = await openApi();
  const { dispatchId } = await other.submit();
  const poll = other.answer<Envelope>('GET', `/v1/dispatches/${dispatchId}?wait=60000`);
  await waitUntil(() => other.api.busy());
  const closing = other.close();
  expect(await poll).toMatchObject({ ok: true, data: { state: 'queued' } });
  await closing;
});

function listen(path: string, { api }: TestApi): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer((socket) => api.app.server.emit('connection', socket));
    server.listen(path, () => resolve(server));
  });
}
