import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { openCmo, type Cmo } from '../support/cmo.js';

/**
 * A degraded review shows at every door. A door that is added later joins the table: it is given the id of a review
 * that a model of the maker's own vendor had to make, and answers what it shows of it.
 */
const DOORS: [door: string, shows: (cmo: Cmo, id: string) => Promise<string>, mark: RegExp][] = [
  [
    'wait, as JSON',
    async (cmo, id) => (await cmo.cmo(['wait', id])).stdout,
    /"independence": "same-vendor",\n\s*"degradedReview": true/,
  ],
  [
    'result, as JSON',
    async (cmo, id) => (await cmo.cmo(['result', id])).stdout,
    /"independence": "same-vendor",\n\s*"degradedReview": true/,
  ],
  [
    'submit, as JSON',
    async (cmo) => (await cmo.cmo(['submit', '--role', 'review', '--independent-of', 'openai'], { input: 'x' })).stdout,
    /"independence": "same-vendor",\n\s*"degradedReview": true/,
  ],
  [
    'submit, as text',
    async (cmo) =>
      (await cmo.cmo(['submit', '--human', '--role', 'review', '--independent-of', 'openai'], { input: 'x' })).stdout,
    /review degraded: same-vendor/,
  ],
  [
    'wait for several, as text',
    async (cmo, id) => (await cmo.cmo(['wait', '--human', id, await cmo.submit('x')])).stdout,
    /review degraded: same-vendor/,
  ],
  ['show', async (cmo, id) => (await cmo.cmo(['show', id])).stdout, /review +same-vendor \(degraded/],
  [
    'show, as JSON',
    async (cmo, id) => JSON.stringify(await cmo.show(id)),
    /"independence":"same-vendor".*"degradedReview":true/,
  ],
  [
    'ls',
    async (cmo, id) => (await cmo.cmo(['ls'])).stdout.split('\n').find((line) => line.startsWith(id)) ?? '',
    /review degraded: same-vendor/,
  ],
  [
    'ls, as JSON',
    async (cmo, id) => JSON.stringify((await cmo.ls()).find((row) => row.id === id)),
    /"independence":"same-vendor","degradedReview":true/,
  ],
  [
    'the receipt',
    async (cmo, id) => Promise.resolve(JSON.stringify(cmo.dispatchLines(id))),
    /"independence":"same-vendor","degradedReview":true/,
  ],
];

let cmo: Cmo;
let degraded: Envelope;
beforeAll(async () => {
  cmo = openCmo({ clis: { claude: null } });
  degraded = await cmo.run('grade it', '--role', 'review', '--independent-of', 'codex');
});
afterAll(() => cmo.close());

test.each(DOORS)('a degraded review is told by %s', async (_door, shows, mark) => {
  expect(degraded).toMatchObject({ ok: true, lane: 'codex', independence: 'same-vendor', degradedReview: true });
  expect(await shows(cmo, degraded.dispatchId)).toMatch(mark);
});

test('a review of work that was moved is independent of the lane that made it, not of the one it was meant for', async () => {
  const box = openCmo();
  try {
    // codex refuses until a reset: the work moves to claude, and codex stays closed.
    const made = await box.run('say it [[codex:usage-limit]]');
    expect(made).toMatchObject({ ok: true, lane: 'claude', failedOver: true });
    const review = await box.run(
      'Is this right? {{review.output}} [[sim:echo]]',
      '--role',
      'review',
      '--review-of',
      made.dispatchId,
    );
    expect(review).toMatchObject({ ok: true, lane: 'claude', independence: 'same-vendor', degradedReview: true });
    expect(review.decision.notes).toContain('degraded-review:exhausted');
    const strict = await box.run('again', '--role', 'review', '--review-of', made.dispatchId, '--strict-independence');
    expect(strict).toMatchObject({ ok: false, state: 'deferred', independence: 'none' });
    const told = readFileSync(
      join(box.stateDir, 'runs', 'done', box.attemptLines(review.dispatchId)[0]?.id ?? '', 'prompt'),
      'utf8',
    );
    expect(told).toContain(`Is this right? ${made.result ?? '?'} [[sim:echo]]`);
  } finally {
    await box.close();
  }
});
