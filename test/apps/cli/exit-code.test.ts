import { expect, test } from 'vitest';
import { END_STATES, LIVE_STATES } from '#contract';
import { exitOfEnvelope, exitOfEnvelopes } from '#cli/exit-code';
import { envelope, succeeded } from './support/fake-daemon.js';

test('an end without an error of its own exits as its state says', () => {
  const exits = END_STATES.map((state) => [state, exitOfEnvelope({ state, ok: state === 'succeeded' })]);
  expect(Object.fromEntries(exits)).toEqual({
    succeeded: 0,
    failed: 1,
    cancelled: 1,
    timed_out: 1,
    deferred: 3,
    expired: 3,
  });
});

test('what goes on is never a success', () => {
  for (const state of LIVE_STATES) expect(exitOfEnvelope({ state, ok: false })).toBe(7);
});

test('one of several that failed is 6, one that goes on 7, one alone keeps its own', () => {
  const [ok, failed, open] = [succeeded('a'), envelope('b', { state: 'failed' }), envelope('c')];
  expect(exitOfEnvelopes([ok, ok])).toBe(0);
  expect(exitOfEnvelopes([ok, failed])).toBe(6);
  expect(exitOfEnvelopes([ok, failed, open])).toBe(7);
  expect(exitOfEnvelopes([failed])).toBe(1);
});
