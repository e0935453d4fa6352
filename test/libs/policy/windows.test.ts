import { describe, expect, test } from 'vitest';
import type { MeterWindow } from '#contract';
import { clearsAt, inScope, laneFactsOf, nextReset, percentFor, worstAccountWide } from '#policy';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const five: MeterWindow = { id: 'five_hour', kind: 'five_hour', usedPercent: 40, resetsAt: NOW + HOUR, scope: null };
const week: MeterWindow = { id: 'weekly', kind: 'weekly', usedPercent: 70, resetsAt: NOW + 50 * HOUR, scope: null };
const opus: MeterWindow = {
  id: 'weekly:opus',
  kind: 'weekly',
  usedPercent: 99,
  resetsAt: NOW + 80 * HOUR,
  scope: 'opus',
};

describe('an account’s windows', () => {
  test('count as 0 from the instant of their reset', () => {
    expect(percentFor([five], null, NOW + HOUR - 1)).toBe(40);
    expect(percentFor([five], null, NOW + HOUR)).toBe(0);
    expect(percentFor([{ ...five, resetsAt: null }], null, NOW + 1e12)).toBe(40);
  });

  test('bind a model by the worst of the account-wide and its own family’s', () => {
    expect(percentFor([five, week, opus], 'sonnet', NOW)).toBe(70);
    expect(percentFor([five, week, opus], 'claude-opus-4-5', NOW)).toBe(99);
    expect(percentFor([five, week, opus], null, NOW)).toBe(70);
    expect(percentFor([], 'opus', NOW)).toBe(0);
    expect(worstAccountWide([five, week, opus], NOW)?.id).toBe('weekly');
    expect(worstAccountWide([five, week], NOW + 60 * HOUR)?.id).toBe('weekly');
    expect(worstAccountWide([opus], NOW)).toBeNull();
  });

  test('clear when the last one over the limit resets', () => {
    expect(clearsAt([five, week], 40, NOW)).toBe(NOW + 50 * HOUR);
    expect(clearsAt([five, week], 50, NOW)).toBe(NOW + 50 * HOUR);
    expect(clearsAt([five, week], 95, NOW)).toBeNull();
    expect(clearsAt([five, { ...week, resetsAt: null }], 40, NOW)).toBeNull();
    expect(nextReset([week, five], NOW)).toBe(NOW + HOUR);
    expect(nextReset([week, five], NOW + 2 * HOUR)).toBe(NOW + 50 * HOUR);
    expect(nextReset([], NOW)).toBeNull();
  });

  test('never count below nothing, whatever was written', () => {
    expect(
      percentFor(
        [
          { ...five, usedPercent: Number.NaN },
          { ...week, usedPercent: -3 },
        ],
        null,
        NOW,
      ),
    ).toBe(0);
  });
});

describe('a lane’s facts from its windows', () => {
  test('hold the worst account-wide percent and its reset, and the scoped ones apart', () => {
    expect(laneFactsOf([five, week, opus], 95, NOW)).toEqual({
      available: true,
      worstPercent: 70,
      nextResetAt: '2026-01-03T02:00:00.000Z',
      scoped: [{ scope: 'opus', percent: 99, resetsAt: '2026-01-04T08:00:00.000Z' }],
    });
  });

  test('of an exhausted account say when every full window has reset', () => {
    const facts = laneFactsOf(
      [
        { ...five, usedPercent: 100 },
        { ...week, usedPercent: 95 },
      ],
      95,
      NOW,
    );
    expect(facts).toMatchObject({ worstPercent: 100, nextResetAt: '2026-01-03T02:00:00.000Z' });
  });

  test('without a reading are dark, with no open window empty', () => {
    expect(laneFactsOf(null, 95, NOW)).toEqual({ available: false });
    expect(laneFactsOf([], 95, NOW)).toEqual({ available: true, worstPercent: 0, nextResetAt: null });
    expect(laneFactsOf([five], 95, NOW + 2 * HOUR)).toEqual({ available: true, worstPercent: 0, nextResetAt: null });
    expect(laneFactsOf([{ ...five, resetsAt: 9e15 }], 95, NOW)).toMatchObject({ nextResetAt: null });
  });
});

test('a scope is a family, however it is written', () => {
  expect([
    inScope('opus', 'opus[1m]'),
    inScope('Codex Spark', 'gpt-5.3-codex-spark'),
    inScope('sonnet', 'opus'),
    inScope('Fable', 'fable'),
  ]).toEqual([true, true, false, true]);
});
