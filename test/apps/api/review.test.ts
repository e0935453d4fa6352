import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DispatchRecord, DispatchRequest, Envelope, PastAttempt } from '#contract';
import { openTransitions } from '#queue';
import { openRecords } from '#store';
import { tempFolder } from '../../support/temp.js';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());

const attempt = (n: number, lane: 'codex' | 'claude', more: Partial<PastAttempt>): PastAttempt => ({
  attempt: n,
  lane,
  vendor: lane === 'codex' ? 'openai' : 'anthropic',
  model: 'm',
  effort: null,
  tier: 'balanced',
  node: 'test-node',
  outcome: 'ok',
  class: null,
  resetsAt: null,
  words: null,
  startedAt: 1,
  endedAt: 2,
  exitCode: 0,
  signal: null,
  usage: null,
  session: null,
  next: 'answered',
  ...more,
});

/** Decided for codex; what became of it is `history`. */
async function made(output: string, history: PastAttempt[]): Promise<string> {
  const { dispatchId } = await it.submit();
  const record = (await it.records.read(dispatchId)) as DispatchRecord;
  expect(record.lane).toBe('codex');
  await openTransitions(it.redis, it.config).change(record, {
    state: 'succeeded',
    event: 'succeeded',
    change: { history },
  });
  await it.records.putBlob(dispatchId, 'result', output);
  return dispatchId;
}
const rerouted = [attempt(1, 'codex', { outcome: 'failed', class: 'usage_limit' }), attempt(2, 'claude', {})];

async function refusal(change: Partial<DispatchRequest>): Promise<{ code: string; message: string; fix: string }> {
  const answer = await it.answer('POST', '/v1/dispatches', { dispatches: [it.request({ role: 'review', ...change })] });
  if (answer.ok) throw new Error('it was taken');
  return answer.error;
}
const record = async ({ dispatchId }: Envelope): Promise<DispatchRecord> =>
  (await it.records.read(dispatchId)) as DispatchRecord;

test('a review is independent of the vendor that really made the thing, wherever it was first decided to run', async () => {
  const moved = await it.submit({ role: 'review', reviewOf: await made('x', rerouted) });
  expect(moved).toMatchObject({ lane: 'codex', vendor: 'openai', independence: 'cross-vendor' });
  expect((await record(moved)).decision).toMatchObject({
    factors: { independentOf: 'anthropic' },
    notes: ['cross-model-forced:codex'],
  });
  const stayed = await it.submit({ role: 'review', reviewOf: await made('x', [attempt(1, 'codex', {})]) });
  expect(stayed).toMatchObject({ lane: 'claude', independence: 'cross-vendor' });
  expect((await record(stayed)).request).toMatchObject({
    independentOf: 'openai',
    reviewOf: expect.stringMatching(/^d-/) as string,
  });
});

test('where only the maker’s vendor is left, the review is labelled, and a strict one is deferred', async () => {
  const id = await made('x', rerouted);
  it.installed['codex'] = false;
  try {
    expect(await it.submit({ role: 'review', reviewOf: id })).toMatchObject({
      lane: 'claude',
      independence: 'same-vendor',
      degradedReview: true,
    });
    expect(await refusal({ reviewOf: id, strictIndependence: true })).toMatchObject({ code: 'CMO_E_NO_LANE' });
  } finally {
    it.installed['codex'] = true;
  }
});

test('{{review.output}} is replaced by the output, as it is, and by nothing else', async () => {
  const output = "a $& b $' {{review.output}} {{ review.output }}";
  const reviewOf = await made(output, [attempt(1, 'codex', {})]);
  const { dispatchId } = await it.submit({
    role: 'review',
    reviewOf,
    prompt: 'Grade:\n{{review.output}}\nand {{review.output}}; {{ review.output }} {{review.outputs}} {{prompt}}',
  });
  expect(await it.records.blob(dispatchId, 'prompt')).toBe(
    `Grade:\n${output}\nand ${output}; {{ review.output }} {{review.outputs}} {{prompt}}`,
  );
  const plain = await it.submit({ prompt: 'say {{review.output}}' });
  expect(await it.records.blob(plain.dispatchId, 'prompt')).toBe('say {{review.output}}');
});

test('a review of a dispatch without output is refused, with the state of that dispatch', async () => {
  const waiting = await it.submit();
  expect(await refusal({ reviewOf: waiting.dispatchId })).toMatchObject({
    code: 'CMO_E_UNSATISFIABLE',
    message: `${waiting.dispatchId} has no output yet: it is queued`,
    fix: `wait for it: \`cmo wait ${waiting.dispatchId}\``,
  });
  await it.end(waiting.dispatchId);
  expect(await refusal({ reviewOf: waiting.dispatchId })).toMatchObject({
    code: 'CMO_E_UNSATISFIABLE',
    message: `${waiting.dispatchId} has no output: it ended expired`,
  });
  expect(await refusal({ reviewOf: 'd-01JE0000000000000000000000' })).toMatchObject({ code: 'CMO_E_NO_DISPATCH' });
  expect(await refusal({ reviewOf: 'd-1' })).toMatchObject({
    code: 'CMO_E_UNKNOWN_VALUE',
    message: 'reviewOf: saw "d-1"; allowed: the id of a dispatch',
  });
});

test('an output whose full text is on another box is not graded by its head', async () => {
  const reviewOf = await made('x', [attempt(1, 'codex', {})]);
  const other = openRecords(it.redis, { folder: tempFolder('other'), node: 'other-box' });
  await other.putBlob(reviewOf, 'result', randomBytes(400_000).toString('hex'));
  expect(await refusal({ reviewOf, prompt: '{{review.output}}' })).toMatchObject({
    code: 'CMO_E_UNSATISFIABLE',
    message: `the whole output of ${reviewOf} (800000 bytes) can't be read here: it is blobs/${reviewOf}.result in the state folder of other-box`,
    fix: 'leave {{review.output}} out of the task, and name files instead',
  });
  expect(await it.submit({ role: 'review', reviewOf, prompt: 'look at the files' })).toMatchObject({
    lane: 'claude',
    independence: 'cross-vendor',
  });
});

test('contradictions that only the record shows are refused', async () => {
  const reviewOf = await made('x', rerouted);
  expect(await refusal({ reviewOf, pin: 'claude', strictIndependence: true })).toMatchObject({
    code: 'CMO_E_UNSATISFIABLE',
  });
  expect(await it.submit({ role: 'review', reviewOf, pin: 'codex', strictIndependence: true })).toMatchObject({
    lane: 'codex',
  });
  expect(await refusal({ reviewOf, independentOf: 'codex' })).toMatchObject({ code: 'CMO_E_UNSATISFIABLE' });
});

test('an output that makes the task too long for a lane it may run on is refused before it runs', async () => {
  const reviewOf = await made('y'.repeat(1_100_000), rerouted);
  expect(await refusal({ reviewOf, prompt: '{{review.output}}' })).toMatchObject({
    code: 'CMO_E_USAGE',
    message: expect.stringContaining('1100000 characters') as string,
  });
  expect(await it.submit({ role: 'review', reviewOf, prompt: 'look at the files' })).toMatchObject({ state: 'queued' });
});
