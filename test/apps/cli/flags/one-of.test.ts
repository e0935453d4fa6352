import { expect, test } from 'vitest';
import { CmoError } from '#contract';
import { oneOf } from '#cli/flags/one-of';

const KINDS = ['decision', 'failure'] as const;

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof CmoError ? error.body : error;
  }
}

test('a word that is allowed comes back as it is', () => {
  expect(oneOf(KINDS, 'failure', { command: 'explain' })).toBe('failure');
});

test('another word is refused with what is allowed, and with what was probably meant', () => {
  expect(refusal(() => oneOf(KINDS, 'decison', { command: 'explain' }))).toEqual({
    code: 'CMO_E_UNKNOWN_VALUE',
    message: 'cmo explain: saw "decison"; allowed: decision, failure; nearest: decision',
    fix: 'see `cmo help explain`',
  });
});

test('the refusal names the flag that the word was given to', () => {
  const body = refusal(() => oneOf(['codex'], 'x'.repeat(200), { command: 'guard', place: '--lane' }));
  expect(body).toMatchObject({
    message: expect.stringMatching(/^--lane: saw "x{77}\.\.\."; allowed: codex$/) as string,
  });
});
