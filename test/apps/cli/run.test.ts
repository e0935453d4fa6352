import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DISPATCH_ID, errorBody, type Envelope } from '#contract';
import { waitUntil } from '../../support/wait-until.js';
import { data, envelope, fakeDaemon, oneDispatch, refusal, succeeded } from './support/fake-daemon.js';
import { freshBox } from './support/run-cli.js';

const parsed = (stdout: string): Envelope => JSON.parse(stdout) as Envelope;

test('run sends the task as it was said, waits, and prints the envelope as JSON into a pipe', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id)),
  );
  writeFileSync(join(box.folder, 'schema.json'), '{"type":"object"}');
  const args = [
    '--role',
    'judge',
    '--complexity=4',
    '--length',
    's',
    '--context-tokens',
    '1000',
    '--independent-of',
    'openai',
    '--strict-independence',
    '--model',
    'opus',
    '--timeout',
    '20m',
    '--attempts',
    '2',
    '--no-failover',
    '--retry-writes',
    '--class',
    'batch',
    '--max-wait',
    '8h',
    '--env',
    'MINE=canary',
    '--label',
    'case=7',
    '--schema',
    'schema.json',
  ];
  const { code, stdout, stderr } = await box.cmo(['run', ...args], {
    stdin: 'grade this\n',
    env: { OPENAI_API_KEY: 'canary', GOPATH: '/go' },
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(parsed(stdout)).toMatchObject({ schema: 'cmo.envelope/1', ok: true, result: 'the answer', provider: 'codex' });
  const [request] = daemon.submitted();
  expect(request?.id).toMatch(DISPATCH_ID);
  const { id: _id, env, ...told } = request ?? { id: '', env: {} };
  expect(told).toEqual({
    prompt: 'grade this\n',
    cwd: box.folder,
    role: 'judge',
    complexity: 4,
    length: 's',
    contextTokens: 1000,
    independentOf: 'openai',
    strictIndependence: true,
    model: 'opus',
    timeoutMs: 1_200_000,
    attempts: 2,
    failover: false,
    retryWrites: true,
    class: 'batch',
    maxWaitMs: 28_800_000,
    labels: { case: '7' },
    schema: { type: 'object' },
  });
  expect(env).toMatchObject({ MINE: 'canary', GOPATH: '/go', HOME: box.folder });
  expect(env).not.toHaveProperty('OPENAI_API_KEY');
  await daemon.close();
});

test('a --not-before that has passed is taken, and said', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id)),
  );
  const ran = await box.cmo(['run', '--prompt', 'a', '--not-before', '2020-01-02T03:04']);
  expect([ran.code, ran.stderr]).toEqual([
    0,
    expect.stringMatching(/^cmo: --not-before has passed, 2020-01-02 03:04 \(.* ago\): it starts as soon as it can\n$/),
  ]);
  expect((await box.cmo(['run', '--prompt', 'a', '--not-before', '90'])).stderr).toBe('');
  await daemon.close();
});

test('run waits for a window only if asked to, submit for as long as it takes', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id)),
  );
  await box.cmo(['run', '--prompt', 'a'], { env: { CMO_ATTEMPT: 'd-01JE0000000000000000000000.2' } });
  await box.cmo(['submit', '--prompt', 'b']);
  await box.cmo(['submit', '--prompt', 'c', '--max-wait', '90']);
  await box.cmo(['run', '--prompt', 'd', '--max-wait', 'forever']);
  expect(
    daemon.submitted().map(({ prompt, class: word, maxWaitMs, parent }) => [prompt, word, maxWaitMs, parent]),
  ).toEqual([
    ['a', 'normal', 0, 'd-01JE0000000000000000000000.2'],
    ['b', 'normal', null, undefined],
    ['c', 'normal', 90_000, undefined],
    ['d', 'normal', null, undefined],
  ]);
  await daemon.close();
});

test('the prompt may come from a file; stdin is then left alone', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id)),
  );
  writeFileSync(join(box.folder, 'task.md'), '\uFEFFfrom a file\r\n');
  expect((await box.cmo(['run', '--prompt-file', 'task.md'], { stdin: 'from stdin' })).code).toBe(0);
  expect((await box.cmo(['run', '--prompt-file=-'], { stdin: 'from stdin' })).code).toBe(0);
  expect(daemon.submitted().map(({ prompt }) => prompt)).toEqual(['from a file\r\n', 'from stdin']);
  await daemon.close();
});

test('with --human the answer stands alone on stdout, and a failure only on stderr', async () => {
  const box = await freshBox();
  let answer = (id: string): Envelope => succeeded(id, 'line 1\nline 2');
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => answer(id)),
  );
  expect(await box.cmo(['run', '--human', '--prompt', 'a'])).toEqual({
    code: 0,
    signal: null,
    stdout: 'line 1\nline 2\n',
    stderr: '',
  });
  answer = (id) =>
    envelope(id, {
      state: 'failed',
      needsLook: true,
      partial: 'half',
      error: errorBody('CMO_E_NEEDS_LOOK'),
      attempts: [
        {
          attempt: 1,
          lane: 'codex',
          provider: 'codex',
          vendor: 'openai',
          model: 'gpt-5.6-terra',
          effort: null,
          tier: 'balanced',
          node: 'n',
          outcome: 'interrupted',
          class: null,
          failure: null,
          timedOut: false,
          resetsAt: null,
          words: 'cut off',
          startedAt: 0,
          endedAt: 1,
          exitCode: null,
          signal: 'SIGKILL',
          usage: null,
          session: null,
          next: 'stop',
        },
      ],
    });
  const failed = await box.cmo(['run', '--human', '--prompt', 'a']);
  expect([failed.code, failed.stdout]).toEqual([1, '']);
  for (const text of [
    'failed',
    'CMO_E_NEEDS_LOOK',
    'attempt 1 on codex gpt-5.6-terra: interrupted: cut off',
    'look before it runs again',
  ])
    expect(failed.stderr).toContain(text);
  await daemon.close();
});

test('it is always reported that others wrote in the same folder, whatever the result and even if stderr is not a terminal', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => ({
      ...succeeded(id),
      receipts: [{ notes: ['beside:d-01JE0000000000000000000000.1'] } as Envelope['receipts'][number]],
    })),
  );
  const { stdout, stderr } = await box.cmo(['run', '--human', '--prompt', 'a']);
  expect([stdout, stderr]).toEqual([
    'the answer\n',
    'other agents wrote in the same folder meanwhile: d-01JE0000000000000000000000.1 (`--exclusive` waits for them)\n',
  ]);
  await daemon.close();
});

const ends: [string, Partial<Envelope>, number][] = [
  ['failed', { state: 'failed', error: errorBody('CMO_E_FAILED') }, 1],
  ['timed out', { state: 'timed_out', error: errorBody('CMO_E_TIMED_OUT') }, 1],
  ['cancelled by someone else', { state: 'cancelled', error: errorBody('CMO_E_CANCELLED') }, 1],
  [
    'deferred',
    { state: 'deferred', deferred: true, resumeAfter: '2026-11-30T12:00:00Z', error: errorBody('CMO_E_DEFERRED') },
    3,
  ],
  ['expired', { state: 'expired', error: errorBody('CMO_E_EXPIRED') }, 3],
  ['without a login on any lane', { state: 'failed', error: errorBody('CMO_E_NO_LANE') }, 4],
];

test.each(ends)('a dispatch that ended %s gives its exit code to run, wait and result', async (_how, end, code) => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => envelope(id, end)),
  );
  const ran = await box.cmo(['run', '--prompt', 'a']);
  expect([ran.code, parsed(ran.stdout)]).toMatchObject([code, { ok: false, ...end }]);
  const id = daemon.submitted()[0]?.id ?? '';
  expect((await box.cmo(['wait', id])).code).toBe(code);
  expect((await box.cmo(['result', id])).code).toBe(code);
  await daemon.close();
});

test('a refusal by the daemon is shown with its own words and exit code', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(box.state, () =>
    refusal(errorBody('CMO_E_SCHEMA_FILE', 'anthropic takes no $dynamicRef'), 400),
  );
  const { code, stdout, stderr } = await box.cmo(['run', '--prompt', 'a']);
  expect([code, parsed(stdout).error?.message]).toEqual([2, 'anthropic takes no $dynamicRef']);
  expect(stderr).toContain('CMO_E_SCHEMA_FILE');
  await daemon.close();
});

test('wait on what is not on record does not say that it goes on', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(box.state, () => refusal(errorBody('CMO_E_NO_DISPATCH', 'no dispatch'), 404));
  const { code, stdout } = await box.cmo(['wait', 'd-01JE0000000000000000000000']);
  expect([code, parsed(stdout).error]).toEqual([2, errorBody('CMO_E_NO_DISPATCH', 'no dispatch')]);
  await daemon.close();
});

test('submit prints the record and leaves; its exit code is 0 while the dispatch goes on', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id)),
  );
  const piped = await box.cmo(['submit', '--prompt', 'a']);
  expect([piped.code, JSON.parse(piped.stdout)]).toMatchObject([
    0,
    { schema: 'cmo.submit/1', ok: true, data: { dispatches: [{ state: 'queued' }] } },
  ]);
  const human = await box.cmo(['submit', '--prompt', 'a', '--human']);
  expect(human.stdout).toMatch(
    /^d-[0-9A-Z]{26} · queued · codex gpt-5\.6-terra effort=medium \(tier balanced\) · 12s\n$/,
  );
  expect(human.stderr).toMatch(/^next: cmo wait d-/);
  await daemon.close();
});

test('an answer that breaks off is asked for again; the same submit is sent with the same id', async () => {
  const box = await freshBox();
  let cuts = 3;
  const daemon = await fakeDaemon(box.state, (request) =>
    cuts-- > 0 ? 'cut' : oneDispatch((id) => succeeded(id))(request),
  );
  expect((await box.cmo(['run', '--prompt', 'a'])).code).toBe(0);
  expect(new Set(daemon.submitted().map(({ id }) => id)).size).toBe(1);
  expect(daemon.submitted()).toHaveLength(4);
  await daemon.close();
});

test('a Redis that is away for a moment is waited out', async () => {
  const box = await freshBox();
  let away = 3;
  const daemon = await fakeDaemon(box.state, (request) =>
    away-- > 0 ? refusal(errorBody('CMO_E_REDIS'), 503) : oneDispatch((id) => succeeded(id))(request),
  );
  expect((await box.cmo(['run', '--prompt', 'a'])).code).toBe(0);
  await daemon.close();
});

test('a daemon that is gone in the middle of a wait is asked again when it is back', async () => {
  const box = await freshBox();
  let daemon = await fakeDaemon(
    box.state,
    oneDispatch(() => 'hang'),
  );
  const { ran } = box.start(['run', '--prompt', 'a']);
  await waitUntil(() => daemon.received.some(({ method }) => method === 'GET'));
  const [request] = daemon.submitted();
  const closing = daemon.close();
  daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id, 'after all')),
  );
  await closing;
  const { code, stdout } = await ran;
  expect([code, parsed(stdout).dispatchId, parsed(stdout).result]).toEqual([0, request?.id, 'after all']);
  expect(daemon.submitted()).toEqual([]);
  await daemon.close();
});

test('wait takes several, prints a line for each and why it failed, and exits 6 unless all succeeded', async () => {
  const box = await freshBox();
  const [first, second] = ['d-01JE0000000000000000000001', 'd-01JE0000000000000000000002'];
  let secondEnds: Partial<Envelope> = { state: 'failed', error: errorBody('CMO_E_FAILED') };
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => (id === first ? succeeded(id) : envelope(id, secondEnds))),
  );
  const json = await box.cmo(['wait', first, second]);
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    6,
    {
      schema: 'cmo.wait/1',
      data: {
        dispatches: [
          { dispatchId: first, ok: true },
          { dispatchId: second, ok: false },
        ],
      },
    },
  ]);
  const human = await box.cmo(['wait', '--human', first, second]);
  expect(human.stdout.split('\n').sort().filter(Boolean)).toEqual([
    '  the agent failed [CMO_E_FAILED]',
    expect.stringContaining(`${first} · succeeded`),
    expect.stringContaining(`${second} · failed`),
  ]);
  expect(human.stderr).toContain('2 dispatches: 1 succeeded, 1 not');
  secondEnds = { ok: true, state: 'succeeded' };
  expect((await box.cmo(['wait', first, second])).code).toBe(0);
  await daemon.close();
});

test('a mark that belongs to no attempt of ours is not passed on', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id)),
  );
  for (const CMO_ATTEMPT of ['x\r\nauthorization: y', 'é'])
    expect(await box.cmo(['wait', 'd-01JE0000000000000000000001'], { env: { CMO_ATTEMPT } })).toMatchObject({
      code: 0,
    });
  await daemon.close();
});

test('wait --timeout leaves with 7, says how it stands and how to come back; result on one that goes on does too', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => envelope(id)),
  );
  const id = 'd-01JE0000000000000000000001';
  const waited = await box.cmo(['wait', id, '--timeout', '300ms']);
  expect([waited.code, parsed(waited.stdout)]).toMatchObject([
    7,
    { state: 'running', error: { code: 'CMO_E_WAIT_TIMEOUT' } },
  ]);
  expect(waited.stderr).toContain(`cmo wait ${id}`);
  const result = await box.cmo(['result', id]);
  expect([result.code, parsed(result.stdout)]).toMatchObject([
    7,
    { state: 'running', error: { message: 'it has not ended: running' } },
  ]);
  for (const { stderr } of [waited, result])
    expect(stderr).toMatch(new RegExp(`^  ${id} · running · codex .* · 12s$`, 'm'));
  const two = await box.cmo(['wait', id, 'd-01JE0000000000000000000002', '--timeout', '300ms']);
  expect(two.stderr).toContain('\n  2 dispatches: 2 running\n');
  await daemon.close();
});

test('result --human prints the bare answer, into a pipe as well', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => succeeded(id, 'the answer')),
  );
  expect(await box.cmo(['result', '--human', 'd-01JE0000000000000000000001'])).toEqual({
    code: 0,
    signal: null,
    stdout: 'the answer\n',
    stderr: '',
  });
  await daemon.close();
});

test('cancel tells what became of it', async () => {
  const box = await freshBox();
  const id = 'd-01JE0000000000000000000001';
  let how: 'cancelled' | 'asked' | 'already-ended' = 'cancelled';
  const daemon = await fakeDaemon(box.state, ({ method }) =>
    method === 'POST'
      ? data('cmo.cancel/1', {
          id,
          how,
          state: how === 'asked' ? 'running' : how === 'cancelled' ? 'cancelled' : 'succeeded',
        })
      : data('cmo.dispatch/1', envelope(id, { state: 'cancelled' })),
  );
  expect(await box.cmo(['cancel', id])).toMatchObject({ code: 0, stdout: `${id} cancelled\n` });
  how = 'already-ended';
  expect(await box.cmo(['cancel', id])).toMatchObject({ code: 0, stdout: `${id} had ended already: succeeded\n` });
  how = 'asked';
  const json = await box.cmo(['cancel', id, '--json']);
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    0,
    { schema: 'cmo.cancel/1', ok: true, data: { id, how: 'cancelled', state: 'cancelled' } },
  ]);
  await daemon.close();
});
