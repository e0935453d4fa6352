import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { keys } from '#store';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());
beforeEach(async () => {
  await it.redis.flushall();
  Object.assign(it.installed, { codex: true, claude: true });
});

/** A reading with the five-hour window at this percent. */
async function reading(account: string, usedPercent: number, resetsInMs: number): Promise<string> {
  const now = Date.now();
  const resetsAt = now + resetsInMs;
  await it.gate.read({
    account,
    windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt, scope: null }],
    source: 'test',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
  return new Date(resetsAt).toISOString();
}

test('a run that may not wait ends deferred at once, with its line and when to come again', async () => {
  await reading('codex', 99, 7_200_000);
  const first = await reading('claude', 100, 3_600_000);
  const envelope = await it.submit({ maxWaitMs: 0 });
  expect(envelope).toMatchObject({
    ok: false,
    deferred: true,
    state: 'deferred',
    resumeAfter: first,
    attempts: [],
    lane: null,
    error: { code: 'CMO_E_DEFERRED', retryAfter: first },
  });
  expect(envelope.receipts).toMatchObject([{ kind: 'dispatch', state: 'deferred', attempts: 0 }]);
  expect(await it.redis.zcard(keys.owed)).toBe(0);
  expect(await it.records.counts()).toMatchObject({ deferred: 1, queued: 0 });
});

test('one that may wait is queued where a window opens first', async () => {
  await reading('codex', 99, 7_200_000);
  await reading('claude', 100, 3_600_000);
  for (const change of [{}, { maxWaitMs: null }, { maxWaitMs: 60_000 }]) {
    const envelope = await it.submit(change);
    expect(envelope).toMatchObject({
      state: 'queued',
      lane: 'claude',
      waiting: { for: 'quota', until: expect.any(String) as string },
    });
  }
});

test('pinned work waits in its own lane', async () => {
  await reading('codex', 99, 7_200_000);
  await reading('claude', 10, 3_600_000);
  expect(await it.submit({ pin: 'codex' })).toMatchObject({
    state: 'queued',
    lane: 'codex',
    waiting: { for: 'quota' },
  });
  expect(await it.submit({ pin: 'codex', maxWaitMs: 0 })).toMatchObject({ state: 'deferred' });
});

test('strictly independent work waits for a foreign lane, however free its own is', async () => {
  await reading('claude', 100, 7_200_000);
  await reading('codex', 1, 3_600_000);
  expect(await it.submit({ independentOf: 'openai', strictIndependence: true, role: 'review' })).toMatchObject({
    state: 'queued',
    lane: 'claude',
    independence: 'none',
  });
});

test('a lane without a CLI is not waited for', async () => {
  await reading('codex', 99, 7_200_000);
  await reading('claude', 100, 3_600_000);
  it.installed['claude'] = false;
  expect(await it.submit({})).toMatchObject({ state: 'queued', lane: 'codex' });
});

test('why it waits is the gate’s word of this moment', async () => {
  const { dispatchId } = await it.submit({ pin: 'codex' });
  const waiting = async (): Promise<Envelope['waiting']> => {
    const answer = await it.answer<Envelope>('GET', `/v1/dispatches/${dispatchId}`);
    return answer.ok ? answer.data.waiting : undefined;
  };
  expect(await waiting()).toMatchObject({ for: 'slot', until: null });
  const until = await reading('codex', 99, 3_600_000);
  expect(await waiting()).toEqual({ for: 'quota', why: 'the 5-hour window of codex has no room for it', until });
  await it.resources.controls.pause('codex', 'I need it', null);
  expect(await waiting()).toEqual({ for: 'quota', why: 'lane codex is paused: I need it', until: null });
  await it.resources.controls.resume('codex');
  await it.resources.controls.drain('test-node', 'a new disk');
  expect(await waiting()).toEqual({
    for: 'slot',
    why: 'test-node is drained and starts nothing: a new disk',
    until: null,
  });
});
