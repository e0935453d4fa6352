import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Answer, BatchStatus, CancelManyData, DispatchRequest, ErrorBody, RetryData } from '#contract';
import { auditIndexes } from '../../support/audit.js';
import { waitUntil } from '../../support/wait-until.js';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeEach(async () => {
  it = await openApi();
});
afterEach(async () => {
  expect(await auditIndexes(it.redis)).toEqual([]);
  await it.close();
});

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await it.answer<T>('POST', path, body);
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}
async function refusalOf(path: string, body: object): Promise<ErrorBody['code']> {
  const answer = await it.answer('POST', path, body);
  if (answer.ok) throw new Error('it was taken');
  return answer.error.code;
}
const many = async (n: number, change: Partial<DispatchRequest>): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < n; i++) ids.push((await it.submit(change)).dispatchId);
  return ids;
};
const call = { nonce: '0123456789abcdef0123456789abcdef', at: Date.now(), maxWaitMs: null };
const states = async (ids: string[]): Promise<(string | undefined)[]> =>
  (await it.records.readMany(ids)).map(({ state }) => state);

test('a selection is counted first, and cancelled then: only what it names', async () => {
  const red = await many(3, { batch: 'night', labels: { colour: 'red' } });
  const blue = await many(2, { batch: 'night', labels: { colour: 'blue' } });
  const other = await many(1, { labels: { colour: 'red' } });
  const select = { batch: 'night', labels: ['colour=red'] };
  expect(await post<CancelManyData>('/v1/cancel', { select, dryRun: true })).toEqual({
    matched: 3,
    states: { queued: 3 },
    cancelled: 0,
    alreadyEnded: 0,
    asked: [],
  });
  expect(await states(red)).toEqual(['queued', 'queued', 'queued']);
  expect(await post<CancelManyData>('/v1/cancel', { select })).toMatchObject({ matched: 3, cancelled: 3, asked: [] });
  expect(await states([...red, ...blue, ...other])).toEqual([
    'cancelled',
    'cancelled',
    'cancelled',
    'queued',
    'queued',
    'queued',
  ]);
  expect((await it.lines()).map(({ id }) => id).sort()).toEqual(red);
  expect(await post<CancelManyData>('/v1/cancel', { select })).toMatchObject({ matched: 0 });
  expect(await post<CancelManyData>('/v1/cancel', { select: { states: ['queued'] } })).toMatchObject({
    matched: 3,
    cancelled: 3,
  });
});

test('ids are cancelled all, or none when one of them is not on record', async () => {
  const [a = '', b = ''] = await many(2, {});
  expect(await refusalOf('/v1/cancel', { ids: [a, 'd-01JE0000000000000000000000'] })).toBe('CMO_E_NO_DISPATCH');
  expect(await states([a])).toEqual(['queued']);
  await it.end(b);
  expect(await post<CancelManyData>('/v1/cancel', { ids: [a, b] })).toMatchObject({
    matched: 2,
    states: { queued: 1, expired: 1 },
    cancelled: 1,
    alreadyEnded: 1,
  });
});

test('a selection of everything, of nothing that is on record, or of both kinds is refused', async () => {
  expect(await refusalOf('/v1/cancel', {})).toBe('CMO_E_USAGE');
  expect(await refusalOf('/v1/cancel', { select: {} })).toBe('CMO_E_USAGE');
  expect(await refusalOf('/v1/cancel', { select: { batch: 'nowhere' } })).toBe('CMO_E_NO_DISPATCH');
  expect(await refusalOf('/v1/cancel', { ids: ['d-1'] })).toBe('CMO_E_UNKNOWN_VALUE');
  expect(await refusalOf('/v1/cancel', { select: { states: ['quued'] } })).toBe('CMO_E_UNKNOWN_VALUE');
});

test('a retry is a new dispatch of the same task, in the place of the old one, and the old one says so', async () => {
  const { dispatchId } = await it.submit({
    prompt: 'the task',
    role: 'research',
    batch: 'night',
    labels: { a: 'b' },
    once: 'k',
    deadline: '2h',
    schema: { type: 'object' },
    maxWaitMs: 0,
  });
  await it.end(dispatchId);
  const { dispatches } = await post<RetryData>('/v1/retry', { ids: [dispatchId], ...call });
  const [made] = dispatches;
  expect(made).toMatchObject({ retryOf: dispatchId, state: 'queued' });
  const record = await it.records.read(made?.id ?? '');
  expect(record?.request).toMatchObject({
    role: 'research',
    batch: 'night',
    labels: { a: 'b' },
    retryOf: dispatchId,
    deadline: '2h',
    hasSchema: true,
    maxWaitMs: null,
  });
  expect(record?.request.once).toBeUndefined();
  expect(await it.records.blob(made?.id ?? '', 'prompt')).toBe('the task');
  expect(await it.records.read(dispatchId)).toMatchObject({ state: 'expired', retriedBy: made?.id });
  expect(await it.records.census('night')).toMatchObject({
    census: { total: 2, expired: 1, queued: 1 },
    replaced: { expired: 1 },
  });
});

test('a retry whose folder is gone names the dispatch that was named, and a way out that a retry has', async () => {
  const ids = await many(2, { batch: 'night' });
  for (const id of ids) await it.end(id);
  rmSync(it.work, { recursive: true });
  const answer = await it.answer('POST', '/v1/retry', { select: { batch: 'night' }, ...call });
  expect(answer).toMatchObject({
    ok: false,
    error: {
      code: 'CMO_E_CWD',
      details: [`${ids[0] ?? ''} is refused for it`, '1 more are refused', 'none of the 2 was recorded'],
      fix: expect.not.stringContaining('existing folder with --cwd') as string,
    },
  });
});

test('a retry that is sent again makes no other dispatches, by ids and by selection', async () => {
  const ids = await many(3, { batch: 'night' });
  for (const id of ids) await it.end(id);
  const first = await post<RetryData>('/v1/retry', { select: { batch: 'night' }, ...call });
  expect(first.dispatches.map(({ retryOf }) => retryOf)).toEqual(ids);
  expect(await post<RetryData>('/v1/retry', { select: { batch: 'night' }, ...call })).toEqual(first);
  expect((await post<RetryData>('/v1/retry', { ids, ...call })).dispatches).toEqual(first.dispatches);
  expect(
    await post<RetryData>('/v1/retry', { select: { batch: 'night' }, ...call, nonce: 'f'.repeat(32) }),
  ).toMatchObject({ matched: 0, dispatches: [] });
  expect(await it.records.census('night')).toMatchObject({ census: { total: 6 } });
});

test('what has not ended is not retried, and what succeeded only when it is named', async () => {
  const [live = '', done = ''] = await many(2, { batch: 'night' });
  expect(await refusalOf('/v1/retry', { ids: [live], ...call })).toBe('CMO_E_UNSATISFIABLE');
  await it.end(done);
  expect(await post<RetryData>('/v1/retry', { select: { batch: 'night' }, ...call, dryRun: true })).toEqual({
    matched: 1,
    states: { expired: 1 },
    dispatches: [],
  });
});

test('a wait for a batch ends when all of it has ended, and returns its census', async () => {
  const ids = await many(2, { batch: 'night' });
  const waiting = it.answer<BatchStatus>('GET', '/v1/batches/night?wait=60000');
  await waitUntil(() => it.api.busy());
  for (const id of ids) await it.end(id);
  const answer: Answer<BatchStatus> = await waiting;
  expect(answer).toMatchObject({ ok: true, data: { batch: 'night', census: { total: 2, expired: 2, queued: 0 } } });
  expect(await it.answer('GET', '/v1/batches/night?wait=1')).toMatchObject({ ok: true });
  expect(await it.answer('GET', '/v1/batches/nowhere')).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_NO_DISPATCH' },
  });
  expect(await it.answer('GET', '/v1/batches')).toMatchObject({ ok: true, data: { batches: [{ batch: 'night' }] } });
});

test('a listing is narrowed by label, lane, project, class and time', async () => {
  const [old = ''] = await many(1, { labels: { wave: '1' }, pin: 'codex' });
  const since = new Date(Date.now() + 1).toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const [young = ''] = await many(1, { labels: { wave: '2' }, pin: 'claude', class: 'interactive' });
  const ids = async (query: string): Promise<string[]> => {
    const answer = await it.answer<{ dispatches: { id: string }[] }>('GET', `/v1/dispatches?${query}`);
    return answer.ok ? answer.data.dispatches.map(({ id }) => id) : [answer.error.code];
  };
  expect(await ids('label=wave%3D1')).toEqual([old]);
  expect(await ids('lane=claude')).toEqual([young]);
  expect(await ids('project=work')).toEqual([young, old]);
  expect(await ids('class=interactive')).toEqual([young]);
  expect(await ids(`since=${since}`)).toEqual([young]);
  expect(await ids('node=test-node&state=queued&limit=1')).toEqual([young]);
  expect(await ids('needsLook=true')).toEqual([]);
  expect(await ids('label=wave')).toEqual(['CMO_E_UNKNOWN_VALUE']);
  expect(await ids('since=yesterday')).toEqual(['CMO_E_UNKNOWN_VALUE']);
});
