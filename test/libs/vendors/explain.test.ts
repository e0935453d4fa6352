import { describe, expect, test } from 'vitest';
import { expandPadLines, explainFailure, explainTranscript } from '#vendors';

const good = {
  vendor: 'codex',
  mode: 'json',
  exitCode: 1,
  signal: null,
  timedOut: false,
  stdout: '',
  stderr: '',
  now: '2026-11-20T03:15:00Z',
  hostTimeZone: 'UTC',
};

describe('a member that cannot be read gives an error in its place', () => {
  test.each([
    [null],
    [42],
    ['text'],
    [[]],
    [{}],
    [{ ...good, vendor: 'gemini' }],
    [{ ...good, now: 'yesterday' }],
    [{ ...good, stdout: 7 }],
    [{ ...good, exitCode: '1' }],
    [{ ...good, chunkBytes: 0 }],
    [{ ...good, schema: { type: 'objekt' } }],
    [{ ...good, schema: [] }],
  ])('%j', async (input) => {
    expect(await explainFailure(input)).toEqual({ error: expect.any(String) as string });
    expect(await explainTranscript(input)).toEqual({ error: expect.any(String) as string });
  });
});

test('members that are not there have their plain meaning', async () => {
  expect(await explainFailure({ vendor: 'claude', now: '2026-11-20T03:15:00Z' })).toMatchObject({
    class: 'transient',
    action: 'retry_same',
  });
});

test('a silent run, one we ended and a last-message file without a date are understood', async () => {
  const stdout = '{"type":"thread.started","thread_id":"t-1"}\n{"type":"turn.started"}\n{"type":"turn.completed"}\n';
  expect(await explainFailure({ ...good, silent: true, exitCode: 143 })).toMatchObject({
    class: 'silence',
    action: 'switch',
  });
  expect(
    await explainFailure({
      ...good,
      endedByUs: true,
      stdout: '{"type":"error","message":"Reconnecting... 1/5 (429 Too Many Requests)"}\n',
    }),
  ).toMatchObject({ class: 'rate_limit', resetsAt: null });
  expect(await explainTranscript({ ...good, exitCode: 0, stdout, lastMessageFile: 'From the file.' })).toMatchObject({
    ok: true,
    text: 'From the file.',
    usage: null,
  });
  expect(
    await explainTranscript({
      ...good,
      exitCode: 0,
      stdout,
      lastMessageFile: 'Old.',
      lastMessageFileMtime: '2026-11-19T00:00:00Z',
    }),
  ).toMatchObject({ ok: false, errorClass: 'transient' });
});

test('a pad is one valid line of the size it names', () => {
  const lines = expandPadLines('a\n@@PAD_LINE:3000@@\nb').split('\n');
  expect(lines.map(({ length }) => length)).toEqual([1, 3000, 1]);
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ type: 'user' });
});
