import { describe, expect, it } from 'vitest';
import { DARK_AFTER_MS } from '#contract';
import { meterAge } from '#probes';

const age = (ageMs: number, lastRunEndedAt: number | null = null) =>
  meterAge({ writtenAt: 1e9, freshnessMs: 10_000, lastRunEndedAt, now: 1e9 + ageMs });

describe('how far a meter is trusted', () => {
  it('is fresh up to the freshness of its lane, then stale with its age', () => {
    expect(age(10_000)).toEqual({ state: 'fresh', ageMs: 10_000, why: 'young' });
    expect(age(10_001)).toEqual({ state: 'stale', ageMs: 10_001, why: 'old' });
  });

  it('stays stale for ever while nothing of ours ran: usage only grows by runs', () => {
    expect(age(30 * DARK_AFTER_MS).state).toBe('stale');
    expect(age(30 * DARK_AFTER_MS, 1e9 - 1).state).toBe('stale');
  });

  it('is dark past an hour when runs of ours ended since and left no number', () => {
    expect(age(DARK_AFTER_MS, 1e9 + 1).state).toBe('stale');
    expect(age(DARK_AFTER_MS + 1, 1e9 + 1)).toEqual({
      state: 'dark',
      ageMs: DARK_AFTER_MS + 1,
      why: 'runs-ended-since',
    });
  });

  it('is dark without any reading', () => {
    expect(meterAge({ writtenAt: null, freshnessMs: 10_000, lastRunEndedAt: null, now: 5 })).toEqual({
      state: 'dark',
      ageMs: null,
      why: 'no-reading',
    });
  });

  it('is fresh when the clock of the writer was a little ahead', () => {
    expect(age(-240_000)).toEqual({ state: 'fresh', ageMs: 0, why: 'young' });
  });
});
