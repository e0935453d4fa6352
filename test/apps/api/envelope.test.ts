import { expect, test } from 'vitest';
import { envelopeOf, type EnvelopeParts } from '#api/envelope';
import { END_STATES, errorBody, type DispatchRecord, type PastAttempt } from '#contract';
import { testConfig, testRecord } from '../../support/records.js';

const NOW = 2_000_000_000_000;

function parts(change: Partial<DispatchRecord> = {}, more: Partial<EnvelopeParts> = {}): EnvelopeParts {
  const record = { ...testRecord(testConfig()), submittedAt: NOW - 60_000, ...change };
  return { record, result: null, partial: null, receipts: [], waiting: null, now: NOW, ...more };
}

function attempt(change: Partial<PastAttempt> = {}): PastAttempt {
  return {
    attempt: 1,
    lane: 'codex',
    vendor: 'openai',
    model: 'gpt-5.6-terra',
    effort: 'medium',
    tier: 'balanced',
    node: 'box',
    outcome: 'ok',
    class: null,
    resetsAt: null,
    words: null,
    startedAt: NOW - 50_000,
    endedAt: NOW - 10_000,
    exitCode: 0,
    signal: null,
    usage: { inputTokens: 10, outputTokens: 2 },
    session: null,
    next: 'delivered',
    ...change,
  };
}

const limited = attempt({
  outcome: 'failed',
  class: 'usage_limit',
  words: 'usage limit reached',
  resetsAt: '2033-05-18T05:00:00.000Z',
  exitCode: 1,
  usage: null,
  next: 'other lane',
});
const answered = attempt({ attempt: 2, lane: 'claude', vendor: 'anthropic', model: 'sonnet' });

test('one that answered after a re-route names the lane that answered, and both attempts', () => {
  const envelope = envelopeOf(
    parts(
      { state: 'succeeded', lane: 'claude', endedAt: NOW - 5_000, history: [limited, answered] },
      { result: { text: 'done', cut: null, file: null } },
    ),
  );
  expect(envelope).toMatchObject({
    ok: true,
    provider: 'claude',
    lane: 'claude',
    vendor: 'anthropic',
    model: 'sonnet',
    failedOver: true,
    durationMs: 55_000,
    usage: { inputTokens: 10, outputTokens: 2 },
    result: 'done',
    resultJson: null,
    attempts: [
      { provider: 'codex', failure: 'usage_limit', timedOut: false },
      { provider: 'claude', failure: null },
    ],
  });
  expect(envelope).not.toHaveProperty('error');
});

test('a failed one names what failed last and why, and keeps its partial text apart from an answer', () => {
  const failed = attempt({
    attempt: 2,
    lane: 'claude',
    vendor: 'anthropic',
    model: 'sonnet',
    outcome: 'failed',
    class: 'deterministic',
    words: 'no such tool',
  });
  const envelope = envelopeOf(
    parts(
      { state: 'failed', lane: 'codex', endedAt: NOW, history: [limited, failed] },
      { result: { text: 'never shown', cut: null, file: null }, partial: 'half' },
    ),
  );
  expect(envelope).toMatchObject({
    ok: false,
    provider: 'claude',
    model: 'sonnet',
    result: null,
    partial: 'half',
    error: { code: 'CMO_E_FAILED', message: expect.stringContaining('no such tool') as string },
  });
});

test('an answer by schema is read as JSON, and one that is none is not made up', () => {
  const withSchema = (result: string): unknown => {
    const { record, ...more } = parts(
      { state: 'succeeded', endedAt: NOW, history: [answered] },
      { result: { text: result, cut: null, file: null } },
    );
    return envelopeOf({ ...more, record: { ...record, request: { ...record.request, hasSchema: true } } }).resultJson;
  };
  expect(withSchema('{"verdict":true}')).toEqual({ verdict: true });
  expect(withSchema('no json')).toBeNull();
});

test('one that waits says for what, and its time goes on', () => {
  const waiting = { for: 'quota' as const, why: 'full', until: null };
  expect(envelopeOf(parts({ state: 'queued' }, { waiting }))).toMatchObject({
    ok: false,
    state: 'queued',
    waiting,
    durationMs: 60_000,
    lane: 'codex',
    model: 'gpt-5.6-terra',
    failedOver: false,
  });
});

test('one on its way to another lane has failed over already', () => {
  expect(envelopeOf(parts({ state: 'queued', lane: 'claude', history: [limited] }))).toMatchObject({
    lane: 'claude',
    model: null,
    failedOver: true,
  });
});

test('every end but success has an error, and the record’s own comes first', () => {
  for (const state of END_STATES) {
    const envelope = envelopeOf(parts({ state, endedAt: NOW }));
    expect('error' in envelope, state).toBe(state !== 'succeeded');
    if (state !== 'succeeded')
      expect(envelopeOf(parts({ state, endedAt: NOW, error: errorBody('CMO_E_CWD') })).error?.code).toBe('CMO_E_CWD');
  }
  expect(envelopeOf(parts({ state: 'failed', endedAt: NOW, needsLook: true }))).toMatchObject({
    needsLook: true,
    error: { code: 'CMO_E_NEEDS_LOOK' },
  });
});

test('an answer of which only the head is here says so, where the whole is, and is not read as JSON', () => {
  const cut = { bytes: 20_000_000, node: 'box-2', file: 'd-1.result' };
  const envelope = envelopeOf(
    parts({ state: 'succeeded', endedAt: NOW, history: [answered] }, { result: { text: '{"a":1}', cut, file: null } }),
  );
  expect(envelope).toMatchObject({ result: '{"a":1}', resultJson: null, resultFile: { ...cut, cut: true } });
  const here = envelopeOf(
    parts(
      { state: 'succeeded', endedAt: NOW, history: [answered] },
      { result: { text: 'whole', cut: null, file: cut } },
    ),
  );
  expect(here).toMatchObject({ result: 'whole', resultFile: { ...cut, cut: false } });
});
