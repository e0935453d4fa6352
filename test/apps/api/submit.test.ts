import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { attemptId, PROTOCOL, VERSION, type DispatchRequest, type Envelope } from '#contract';
import { openApi, type TestApi } from './api.js';
import { newId } from '../../support/records.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());
beforeEach(() => {
  Object.assign(it.installed, { codex: true, claude: true });
});

async function refused(
  change: Partial<DispatchRequest> | Record<string, unknown>,
): Promise<{ status: number; code: string; text: string }> {
  const request = { ...it.request(), ...change };
  const reply = await it.send('POST', '/v1/dispatches', { dispatches: [request] });
  const answer = reply.json<{ ok: boolean; error?: { code: string } }>();
  if (answer.ok || !answer.error) throw new Error('it was taken');
  expect(await it.records.read(String(request.id)), 'nothing is recorded').toBeNull();
  return { status: reply.statusCode, code: answer.error.code, text: reply.body };
}

test('a dispatch is decided, recorded and queued before it is answered', async () => {
  const envelope = await it.submit({ role: 'review', complexity: 2, batch: 'night', labels: { a: 'b' } });
  expect(envelope).toMatchObject({
    schema: 'cmo.envelope/1',
    ok: false,
    state: 'queued',
    lane: 'codex',
    vendor: 'openai',
    batch: 'night',
    attempts: [],
    receipts: [],
    result: null,
  });
  const record = await it.records.read(envelope.dispatchId);
  expect(record).toMatchObject({
    state: 'queued',
    attempt: 1,
    lane: 'codex',
    account: 'codex',
    home: 'test-node',
    class: 'batch',
    access: 'read',
    project: 'work',
    waitUntil: null,
    cost: { five_hour: 1000, weekly: 200 },
  });
  expect(record?.tag).toBeGreaterThan(0);
});

test('prompt, schema and environment values are stored beside the record, not in it', async () => {
  const { dispatchId } = await it.submit({
    prompt: 'CANARY-p',
    env: { PATH: '/bin', CMO_X: 'CANARY-e' },
    schema: { type: 'object', title: 'CANARY-s' },
  });
  const record = await it.records.read(dispatchId);
  expect(JSON.stringify(record)).not.toContain('CANARY');
  expect(record?.request).toMatchObject({ hasSchema: true, envNames: ['CMO_X', 'PATH'], timeoutMs: 1_200_000 });
  expect(await it.records.blob(dispatchId, 'prompt')).toBe('CANARY-p');
  expect(JSON.parse((await it.records.blob(dispatchId, 'env')) ?? '')).toEqual({ PATH: '/bin', CMO_X: 'CANARY-e' });
  expect(JSON.parse((await it.records.blob(dispatchId, 'schema')) ?? '')).toEqual({
    type: 'object',
    title: 'CANARY-s',
  });
  expect(it.logged.join('\n')).not.toContain('CANARY');
});

test('the same id again is the same dispatch, even when it would be refused by now', async () => {
  const request = it.request();
  await it.send('POST', '/v1/dispatches', { dispatches: [request] });
  const again = await it.answer<{ dispatches: Envelope[] }>('POST', '/v1/dispatches', {
    dispatches: [{ ...request, cwd: '/nowhere', prompt: 'other' }],
  });
  expect(again).toMatchObject({ ok: true, data: { dispatches: [{ dispatchId: request.id, state: 'queued' }] } });
  expect(await it.records.blob(request.id, 'prompt')).toBe('do it');
});

test('a submit is taken whole or not at all', async () => {
  const requests = [it.request(), it.request({ cwd: '/nowhere' }), it.request()];
  const answer = await it.answer('POST', '/v1/dispatches', { dispatches: requests });
  expect(answer).toMatchObject({ ok: false, error: { code: 'CMO_E_CWD' } });
  expect(JSON.stringify(answer)).toContain(requests[1]?.id);
  for (const { id } of requests) expect(await it.records.read(id)).toBeNull();
});

test('250 dispatches in one call come back in their order', async () => {
  const requests = Array.from({ length: 250 }, () => it.request({ batch: 'many' }));
  const answer = await it.answer<{ dispatches: Envelope[] }>('POST', '/v1/dispatches', { dispatches: requests });
  expect(answer.ok && answer.data.dispatches.map(({ dispatchId }) => dispatchId)).toEqual(requests.map(({ id }) => id));
});

test.each<[string, Record<string, unknown>, string, RegExp]>([
  ['an unknown key', { complexty: 3 }, 'CMO_E_UNKNOWN_VALUE', /complexty.*nearest: complexity/],
  ['an unknown role', { role: 'reviewer' }, 'CMO_E_UNKNOWN_VALUE', /nearest: review/],
  ['an unknown lane', { pin: 'Codex' }, 'CMO_E_UNKNOWN_VALUE', /nearest: codex/],
  ['a lane that is a name of every object', { pin: 'constructor' }, 'CMO_E_UNKNOWN_VALUE', /constructor/],
  ['an unknown vendor', { independentOf: 'anthropc' }, 'CMO_E_UNKNOWN_VALUE', /nearest: anthropic/],
  ['a complexity out of range', { complexity: 6 }, 'CMO_E_UNKNOWN_VALUE', /1 to 5/],
  ['a number in words', { timeoutMs: '1200' }, 'CMO_E_UNKNOWN_VALUE', /timeoutMs/],
  ['a timeout of nothing', { timeoutMs: 0 }, 'CMO_E_UNKNOWN_VALUE', /timeoutMs/],
  ['an absurd timeout', { timeoutMs: 1e12 }, 'CMO_E_UNKNOWN_VALUE', /timeoutMs/],
  ['no attempts', { attempts: 0 }, 'CMO_E_UNKNOWN_VALUE', /attempts/],
  ['a negative wait', { maxWaitMs: -1 }, 'CMO_E_UNKNOWN_VALUE', /maxWaitMs/],
  ['half a token', { contextTokens: 0.5 }, 'CMO_E_UNKNOWN_VALUE', /contextTokens/],
  ['a flag in words', { write: 'yes' }, 'CMO_E_UNKNOWN_VALUE', /true or false/],
  ['null for a word', { role: null }, 'CMO_E_UNKNOWN_VALUE', /role/],
  ['an id of another form', { id: 'd-1' }, 'CMO_E_UNKNOWN_VALUE', /ULID/],
  ['a batch with a line break', { batch: 'a\nb' }, 'CMO_E_UNKNOWN_VALUE', /batch/],
  ['a parent of another form', { parent: 'me' }, 'CMO_E_UNKNOWN_VALUE', /attempt/],
  ['a model that is a flag', { model: '--yolo' }, 'CMO_E_UNKNOWN_VALUE', /model/],
  ['an empty task', { prompt: ' \n ' }, 'CMO_E_EMPTY_TASK', /empty/],
  ['a folder that is not there', { cwd: '/no/such/folder' }, 'CMO_E_CWD', /does not exist/],
  ['a relative folder', { cwd: 'work' }, 'CMO_E_CWD', /absolute/],
  ['a file for a folder', { cwd: '/etc/hostname' }, 'CMO_E_CWD', /not a folder/],
  ['a schema that is none', { schema: { type: 'objekt' } }, 'CMO_E_SCHEMA_FILE', /type/],
  ['full access', { fullAccess: true }, 'CMO_E_NOT_PERMITTED', /full access/],
  ['a grader that writes', { role: 'judge', write: true }, 'CMO_E_UNSATISFIABLE', /judge reads only/],
  ['writing and only reading', { write: true, readOnly: true }, 'CMO_E_UNSATISFIABLE', /one of the two/],
  [
    'a pin on the vendor it must be independent of',
    { pin: 'claude', independentOf: 'anthropic', strictIndependence: true },
    'CMO_E_UNSATISFIABLE',
    /pin/,
  ],
  ['another billing path', { env: { OPENAI_API_KEY: 'CANARY' } }, 'CMO_E_NOT_PERMITTED', /OPENAI_API_KEY/],
  ['a mark of its own', { env: { CMO_ATTEMPT: 'CANARY' } }, 'CMO_E_NOT_PERMITTED', /CMO_ATTEMPT/],
  ['a variable that no process can have', { env: { 'A=B': 'CANARY' } }, 'CMO_E_UNKNOWN_VALUE', /env/],
  ['a variable with a NUL', { env: { A: 'CANARY\0' } }, 'CMO_E_UNKNOWN_VALUE', /env/],
  ['a prompt that is no text', { prompt: 7 }, 'CMO_E_UNKNOWN_VALUE', /prompt/],
])('%s is refused', async (_what, change, code, words) => {
  const answer = await refused(change);
  expect(answer.code).toBe(code);
  expect(answer.text).toMatch(words);
  expect(answer.text).not.toContain('CANARY');
  expect(answer.status).toBe(code === 'CMO_E_NOT_PERMITTED' ? 403 : 400);
});

test('every problem of every dispatch is reported at once', async () => {
  const answer = await it.answer('POST', '/v1/dispatches', {
    dispatches: [it.request({ role: 'judg' as 'judge', complexity: 9 }), { ...it.request(), nonsense: 1 }],
  });
  if (answer.ok) throw new Error('it was taken');
  expect(answer.error.details).toEqual([
    expect.stringContaining('dispatches[0].role') as string,
    expect.stringContaining('dispatches[0].complexity') as string,
    expect.stringContaining('nonsense') as string,
  ]);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no object', []],
  ['no list', { dispatches: 'x' }],
  ['an empty list', { dispatches: [] }],
  ['a list of nothing', { dispatches: [null] }],
  ['too many', { dispatches: Array.from({ length: 1001 }, () => ({})) }],
  ['more than dispatches', { dispatches: [{}], dry: true }],
])('a body with %s is refused', async (_what, body) => {
  const reply = await it.send('POST', '/v1/dispatches', body);
  expect(reply.statusCode).toBe(400);
  expect(reply.json()).toMatchObject({
    ok: false,
    error: { code: expect.stringMatching(/USAGE|UNKNOWN_VALUE/) as string },
  });
});

test.each([
  '{"dispatches":[{"__proto__":{"admin":true}}]}',
  '{"dispatches":[{"constructor":{"prototype":{"a":1}}}]}',
  '{"dispatches":',
  'hello',
])('a body that reads %s is refused and changes nothing', async (payload) => {
  const reply = await it.api.app.inject({
    method: 'POST',
    url: '/v1/dispatches',
    payload,
    headers: { 'content-type': 'application/json' },
  });
  expect(reply.statusCode).toBe(400);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test('one id twice in a submit is refused', async () => {
  const request = it.request();
  expect(await it.answer('POST', '/v1/dispatches', { dispatches: [request, request] })).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_UNKNOWN_VALUE' },
  });
});

test('a prompt that codex cannot take is refused where codex may get it, and taken when claude is pinned', async () => {
  const prompt = 'x'.repeat(1_048_577);
  expect(await refused({ prompt })).toMatchObject({ code: 'CMO_E_USAGE' });
  expect(await it.submit({ prompt, pin: 'claude' })).toMatchObject({ lane: 'claude' });
});

test('access follows the role, and flags move it', async () => {
  const access = async (change: Partial<DispatchRequest>): Promise<string | undefined> =>
    (await it.records.read((await it.submit(change)).dispatchId))?.access;
  expect(await access({})).toBe('write');
  expect(await access({ role: 'research' })).toBe('read');
  expect(await access({ role: 'research', write: true })).toBe('write');
  expect(await access({ readOnly: true })).toBe('read');
});

test('the project is the repository that holds the folder', async () => {
  const repository = join(it.work, 'my-repo');
  mkdirSync(join(repository, 'deep', 'down'), { recursive: true });
  writeFileSync(join(repository, '.git'), 'gitdir: elsewhere');
  const { dispatchId } = await it.submit({ cwd: join(repository, 'deep', 'down') });
  expect((await it.records.read(dispatchId))?.project).toBe('my-repo');
});

test('without a CLI for any lane it may take it is refused before it is recorded', async () => {
  Object.assign(it.installed, { codex: false, claude: false });
  expect(await refused({})).toMatchObject({ code: 'CMO_E_NO_LANE', status: 200 });
  it.installed['claude'] = true;
  expect(await refused({ pin: 'codex' })).toMatchObject({ code: 'CMO_E_NO_LANE' });
  expect(await refused({ independentOf: 'claude', strictIndependence: true })).toMatchObject({ code: 'CMO_E_NO_LANE' });
  expect(await it.submit({})).toMatchObject({ lane: 'claude' });
});

test('agents dispatch agents to a depth of two', async () => {
  const parentOf = ({ dispatchId }: Envelope): { parent: string } => ({ parent: attemptId(dispatchId, 1) });
  const first = await it.submit({});
  const second = await it.submit(parentOf(first));
  const third = await it.submit(parentOf(second));
  expect(await refused(parentOf(third))).toMatchObject({ code: 'CMO_E_NOT_PERMITTED' });
  expect(await it.submit({ parent: attemptId(newId(), 1) })).toMatchObject({ state: 'queued' });
});

test('every answer says of which version it is', async () => {
  for (const reply of [
    await it.send('GET', '/v1/status'),
    await it.send('GET', '/nowhere'),
    await it.send('POST', '/v1/dispatches', {}),
  ]) {
    expect(reply.headers).toMatchObject({ 'cmo-version': VERSION, 'cmo-protocol': String(PROTOCOL) });
    expect(reply.json()).toHaveProperty('ok');
  }
});

test('new work is refused while the disk is nearly full, and what was taken is still answered', async () => {
  const known = it.request();
  await it.answer('POST', '/v1/dispatches', { dispatches: [known] });
  it.disk.floor = 200 * 1024 * 1024;
  it.disk.free = 20 * 1024 * 1024;
  const response = await it.send('POST', '/v1/dispatches', { dispatches: [it.request()] });
  expect([response.statusCode, response.json<{ error: { code: string; message: string } }>().error]).toMatchObject([
    507,
    {
      code: 'CMO_E_DISK',
      message: 'the disk of the state folder has 20 MB left, and new work is taken from 200 MB on',
    },
  ]);
  expect(await it.answer('POST', '/v1/dispatches', { dispatches: [known] })).toMatchObject({ ok: true });
  it.disk.floor = 1;
  expect(await it.answer('POST', '/v1/dispatches', { dispatches: [it.request()] })).toMatchObject({ ok: true });
});

test('text work for any node has no folder and reads only, whatever its role; anything to write with it is refused', async () => {
  const code = async (change: Partial<DispatchRequest>): Promise<string | null> => {
    const answer = await it.answer('POST', '/v1/dispatches', {
      dispatches: [it.request({ node: 'any', cwd: '', ...change })],
    });
    return answer.ok ? null : answer.error.code;
  };
  const { dispatchId } = await it.submit({ node: 'any', cwd: '', role: 'implement' });
  expect(await it.records.read(dispatchId)).toMatchObject({
    home: 'any',
    access: 'read',
    project: 'any',
    request: { cwd: '', node: 'any', origin: 'test-node' },
  });
  expect(await it.redis.zrange('cmo:line:codex@any', '0', '-1')).toEqual([dispatchId]);
  expect(await code({ cwd: it.work })).toBe('CMO_E_UNSATISFIABLE');
  expect(await code({ write: true })).toBe('CMO_E_UNSATISFIABLE');
  expect(await code({ fullAccess: true })).toBe('CMO_E_UNSATISFIABLE');
  expect(await code({ node: 'box-2' as 'any' })).toBe('CMO_E_UNKNOWN_VALUE');
  const answer = await it.answer('POST', '/v1/dispatches', { dispatches: [it.request({ cwd: '' })] });
  expect(answer).toMatchObject({ ok: false, error: { code: 'CMO_E_CWD' } });
});
