import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, DispatchRequest, SubmitData } from '#contract';
import { requestSchema } from '#contract/schemas/request';
import { taskDigest } from '#api/once';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());

async function post(body: object, key?: string): Promise<{ status: number; ids: string[]; code: string | null }> {
  const response = await it.api.app.inject({
    method: 'POST',
    url: '/v1/dispatches',
    payload: body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
  const answer = response.json<Answer<SubmitData>>();
  return {
    status: response.statusCode,
    ids: answer.ok ? answer.data.dispatches.map(({ dispatchId }) => dispatchId) : [],
    code: answer.ok ? null : answer.error.code,
  };
}
const one = (change: Partial<DispatchRequest> = {}): object => ({ dispatches: [it.request(change)] });

test('a key in the header makes the second submit the first dispatch', async () => {
  const first = await post(one({ prompt: 'the task' }), 'a');
  const again = await post(one({ prompt: 'the task' }), 'a');
  expect(again).toEqual(first);
  expect(again.status).toBe(200);
});

test('another task under the key is a conflict, and is not recorded', async () => {
  const { ids } = await post(one({ prompt: 'the task' }), 'b');
  expect(await post(one({ prompt: 'another task' }), 'b')).toEqual({
    status: 409,
    ids: [],
    code: 'CMO_E_ONCE_CONFLICT',
  });
  expect(await post(one({ prompt: 'the task', role: 'judge' }), 'b')).toMatchObject({ status: 409 });
  expect(await it.records.once('b')).toMatchObject({ id: ids[0] });
});

test('who sends it, how long it may wait and what it is called make no other task of it', async () => {
  const first = await post(
    one({ prompt: 'the task', once: 'c', env: { PATH: '/bin' }, maxWaitMs: 0, class: 'interactive' }),
  );
  expect(
    await post(
      one({
        prompt: 'the task',
        once: 'c',
        env: { PATH: '/bin', TERM: 'dumb' },
        maxWaitMs: null,
        labels: { a: 'b' },
        deadline: '1h',
      }),
    ),
  ).toEqual(first);
});

test('a key for several dispatches covers each by its position, and fixes their number', async () => {
  const several = (...prompts: string[]): object => ({
    once: 'night',
    dispatches: prompts.map((prompt) => it.request({ prompt })),
  });
  const first = await post(several('one', 'two'));
  expect(new Set(first.ids).size).toBe(2);
  expect(await post(several('one', 'two'))).toEqual(first);
  expect(await post(several('one', 'three'))).toMatchObject({ status: 409, ids: [] });
  expect(await post(several('one', 'two', 'three'))).toMatchObject({ status: 409, ids: [] });
  expect(await post(several('one'))).not.toMatchObject({ ids: [first.ids[0]] });
});

test('a key is one word of printable characters, and there is one', async () => {
  expect(await post(one(), 'x'.repeat(201))).toMatchObject({ status: 400, code: 'CMO_E_UNKNOWN_VALUE' });
  expect(await post(one({ once: ' a' }))).toMatchObject({ status: 400, code: 'CMO_E_UNKNOWN_VALUE' });
  expect(await post(one({ once: 'a' }), 'a')).toMatchObject({ status: 400, code: 'CMO_E_UNSATISFIABLE' });
  expect(await post({ once: 7, dispatches: [it.request()] })).toMatchObject({
    status: 400,
    code: 'CMO_E_UNKNOWN_VALUE',
  });
});

test('times that cannot be kept are refused while the sender still looks', async () => {
  const past = new Date(Date.now() - 1_000).toISOString();
  const code = async (change: Partial<DispatchRequest>): Promise<string | null> => (await post(one(change))).code;
  expect(await code({ deadline: past })).toBe('CMO_E_UNSATISFIABLE');
  expect(await code({ notBefore: '2h', deadline: '1h' })).toBe('CMO_E_UNSATISFIABLE');
  expect(await code({ notBefore: '2h', ttlMs: 3_600_000 })).toBe('CMO_E_UNSATISFIABLE');
  expect(await code({ notBefore: 'tomorrow' })).toBe('CMO_E_UNKNOWN_VALUE');
  expect(await code({ deadline: '2026-12-01T03:00' })).toBe('CMO_E_UNKNOWN_VALUE');
  expect(await code({ deadline: '4000d' })).toBe('CMO_E_USAGE');
  expect(await code({ ttlMs: 0 })).toBe('CMO_E_UNKNOWN_VALUE');
});

test('times become moments in the record, and a dispatch shows the future start it waits for', async () => {
  const before = Date.now();
  const envelope = await it.submit({ notBefore: '1h', ttlMs: 7_200_000, deadline: '3h', maxWaitMs: 60_000 });
  const record = await it.records.read(envelope.dispatchId);
  const about = (ms: number | null | undefined): number => Math.round(((ms ?? 0) - before) / 60_000);
  expect([record?.notBefore, record?.startBy, record?.endBy, record?.waitUntil].map(about)).toEqual([60, 120, 180, 61]);
  expect(envelope.waiting).toMatchObject({ for: 'time' });
  const early = await it.submit({ notBefore: '2020-01-01T00:00:00Z' });
  expect((await it.records.read(early.dispatchId))?.notBefore).toBeNull();
});

/** Two values of every member that a request can have. */
const MEMBERS: {
  [K in keyof Required<DispatchRequest>]: [Required<DispatchRequest>[K], Required<DispatchRequest>[K]];
} = {
  id: ['d-01JE0000000000000000000001', 'd-01JE0000000000000000000002'],
  prompt: ['the task', 'another task'],
  cwd: ['/a', '/b'],
  env: [{}, { PATH: '/bin' }],
  role: ['implement', 'judge'],
  complexity: [1, 2],
  length: ['s', 'm'],
  contextTokens: [0, 1],
  schema: [{}, { type: 'object' }],
  write: [true, false],
  readOnly: [true, false],
  independentOf: ['openai', 'anthropic'],
  reviewOf: ['d-01JE0000000000000000000003', 'd-01JE0000000000000000000004'],
  strictIndependence: [true, false],
  pin: ['codex', 'claude'],
  model: ['a', 'b'],
  timeoutMs: [60_000, 90_000],
  attempts: [1, 2],
  failover: [true, false],
  fullAccess: [true, false],
  retryWrites: [true, false],
  exclusive: [true, false],
  class: ['normal', 'interactive'],
  maxWaitMs: [0, null],
  once: ['a', 'b'],
  notBefore: ['15m', '30m'],
  ttlMs: [60_000, 90_000],
  deadline: ['1h', '2h'],
  node: ['any', 'any'],
  batch: ['night', 'day'],
  labels: [{ a: 'b' }, { a: 'c' }],
  parent: ['d-01JE0000000000000000000005.1', 'd-01JE0000000000000000000005.2'],
};
/** Members that leave the task what it is. */
const BESIDE = [
  'batch',
  'class',
  'deadline',
  'env',
  'exclusive',
  'id',
  'labels',
  'maxWaitMs',
  'notBefore',
  'once',
  'parent',
  'ttlMs',
];

test('of every member of a request it is settled whether another value makes another task', () => {
  expect(Object.keys(MEMBERS).sort()).toEqual(Object.keys(requestSchema.shape).sort());
  const bare: DispatchRequest = { id: '', prompt: '', cwd: '', env: {} };
  const counts = Object.entries(MEMBERS).flatMap(([member, [a, b]]) => {
    const digests = [bare, { ...bare, [member]: a }, { ...bare, [member]: b }].map((request) => taskDigest(request));
    return new Set(digests).size > 1 ? [member] : [];
  });
  const names = Object.keys(MEMBERS);
  expect(counts).toEqual(names.filter((member) => !BESIDE.includes(member)));
});

test('a key that was kept before an update still stands for its task', () => {
  const request: DispatchRequest = { id: 'x', prompt: 'the task', cwd: '/a', env: {}, role: 'judge', attempts: 2 };
  expect(taskDigest(request)).toBe('0a1fdc16c7e679bf26a3a0b5aeeb75aaf6d817d8f8e294ee2e43c6c3fa51a0ff');
  expect(taskDigest(request, 3)).toBe('6af7edf942f5ebf61ffe1fef2d851efc80179696c01a31ea7de3166977cf755f');
});
