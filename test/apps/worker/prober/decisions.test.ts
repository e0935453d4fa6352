import { describe, expect, test } from 'vitest';
import { backOffMs } from '#worker/prober/back-off';
import { isDue, type Need } from '#worker/prober/due';
import { isLapsing, lapsed, unrenewed, verdictOf, type Standing } from '#worker/prober/login-standing';
import type { Login } from '#worker/prober/login';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;

describe('whether a meter is due', () => {
  const quiet: Need = {
    now: NOW,
    waiting: false,
    inFlight: 0,
    unsettled: false,
    shut: false,
    writtenAt: NOW - 10 * MINUTE,
    lastEnd: null,
    okAt: NOW - 10 * MINUTE,
    freshnessMs: 45_000,
    gatherMs: 1_500,
  };
  const cases: [string, boolean, Partial<Need>][] = [
    ['nothing waits or runs, however old it is', false, { writtenAt: 0 }],
    ['nothing waits or runs, although there is none', false, { writtenAt: null }],
    ['something waits and there is none', true, { waiting: true, writtenAt: null }],
    ['something waits and it is old', true, { waiting: true }],
    ['something waits and it is fresh', false, { waiting: true, writtenAt: NOW - 40_000 }],
    ['something waits behind a full window', false, { waiting: true, shut: true, writtenAt: NOW - 5 * MINUTE }],
    [
      'something has waited long behind a full window',
      true,
      { waiting: true, shut: true, writtenAt: NOW - 11 * MINUTE },
    ],
    ['something runs and brings its own readings', false, { inFlight: 2, writtenAt: NOW - 1000, okAt: NOW - MINUTE }],
    ['something runs and brings none', true, { inFlight: 2, writtenAt: NOW - MINUTE, okAt: NOW - MINUTE }],
    [
      'something runs, and the windows of some models were not read for long',
      true,
      { inFlight: 2, writtenAt: NOW - 1000, okAt: NOW - 6 * MINUTE },
    ],
    ['a run has just ended: others may end with it', false, { unsettled: true, lastEnd: NOW - 1000 }],
    ['the last run ended a moment ago', true, { unsettled: true, lastEnd: NOW - 1600, writtenAt: NOW - 2000 }],
  ];
  test.each(cases)('%s', (_, due, change) => expect(isDue({ ...quiet, ...change })).toBe(due));
});

describe('the back-off', () => {
  test('is at least a minute whatever the vendor says, doubles, and ends at an hour', () => {
    expect([0, 1, 2, 3, 10, 99].map((failures) => backOffMs({ retryAfterMs: 0 }, failures) / MINUTE)).toEqual([
      1, 2, 4, 8, 60, 60,
    ]);
    expect(backOffMs({ retryAfterMs: null }, 0)).toBe(MINUTE);
  });

  test('is as long as the vendor asks', () => {
    expect(backOffMs({ retryAfterMs: 20 * MINUTE }, 0)).toBe(20 * MINUTE);
  });
});

describe('a login', () => {
  const login = (left: number, stamp = 's1'): Login => ({
    kind: 'file',
    path: '/l',
    accessToken: 't',
    expiresAt: NOW + left,
    stamp,
  });
  const fine: Standing = { kind: 'fine' };

  test('is renewed five minutes ahead of its end, as the CLI counts', () => {
    expect(isLapsing(login(5 * MINUTE + 1), null, NOW)).toBe(false);
    expect(verdictOf(login(5 * MINUTE + 1), fine, null, NOW)).toEqual({ do: 'start' });
    expect(verdictOf(login(5 * MINUTE), fine, null, NOW)).toMatchObject({ do: 'wait', repair: true });
    expect(verdictOf(login(-MINUTE), { kind: 'repairing', stamp: 's1' }, null, NOW)).toMatchObject({
      do: 'wait',
      repair: false,
    });
  });

  test('that states no end, comes from the environment or is kept elsewhere never blocks a start', () => {
    expect(
      verdictOf({ kind: 'file', path: '/l', accessToken: 't', expiresAt: null, stamp: 's' }, fine, null, NOW),
    ).toEqual({ do: 'start' });
    expect(verdictOf({ kind: 'token', accessToken: 't', stamp: 'environment' }, fine, null, NOW)).toEqual({
      do: 'start',
    });
    expect(verdictOf({ kind: 'none', why: '' }, fine, null, NOW)).toEqual({ do: 'start' });
  });

  test('that the vendor refused is renewed whatever its file says, until the file changes', () => {
    expect(verdictOf(login(60 * MINUTE), fine, 's1', NOW)).toMatchObject({ do: 'wait', repair: true });
    expect(verdictOf(login(60 * MINUTE, 's2'), fine, 's1', NOW)).toEqual({ do: 'start' });
  });

  test('without a token shuts the lane at once: no turn could repair it', () => {
    expect(verdictOf({ kind: 'blank', path: '/l', stamp: 's' }, fine, null, NOW)).toMatchObject({ do: 'shut' });
  });

  test('that works but was not renewed starts work, and is tried again at its end or in ten minutes', () => {
    const standing = unrenewed('s1', NOW + 2 * MINUTE, NOW);
    expect(verdictOf(login(2 * MINUTE), standing, null, NOW + MINUTE)).toEqual({ do: 'start' });
    expect(verdictOf(login(2 * MINUTE), standing, null, NOW + 2 * MINUTE)).toMatchObject({ do: 'wait', repair: true });
    expect(unrenewed('s1', NOW - 1, NOW)).toMatchObject({ again: NOW + 10 * MINUTE });
  });

  test('that could not be renewed shuts the lane, and is tried again after 1, 2, 4 … 30 minutes or when its file changes', () => {
    let standing: Standing = fine;
    const waits = Array.from({ length: 7 }, () => {
      standing = lapsed('s1', 'no claude', standing, NOW);
      return standing.kind === 'lapsed' ? (standing.again - NOW) / MINUTE : 0;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect(verdictOf(login(-1), lapsed('s1', 'no claude', fine, NOW), null, NOW + 1)).toEqual({
      do: 'shut',
      why: 'no claude',
      again: NOW + MINUTE,
    });
    expect(verdictOf(login(-1), lapsed('s1', 'no claude', fine, NOW), null, NOW + MINUTE)).toMatchObject({
      do: 'wait',
      repair: true,
    });
    expect(verdictOf(login(-1, 's2'), lapsed('s1', 'no claude', fine, NOW), null, NOW + 1)).toMatchObject({
      do: 'wait',
      repair: true,
    });
  });
});
