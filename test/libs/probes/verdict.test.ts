import { describe, expect, it } from 'vitest';
import type { MeterWindow, WindowKind } from '#contract';
import { verdict } from '#probes';

const window = (
  kind: WindowKind,
  usedPercent: number,
  resetsAt: number | null,
  scope: string | null = null,
): MeterWindow => ({ id: kind, kind, usedPercent, resetsAt, scope });
const flag = { flag: 'rate_limit_reached', resetsAt: null };

describe('whether an account is closed', () => {
  it('waits for the last of its full windows', () => {
    expect(verdict([window('five_hour', 100, 10), window('weekly', 95, 99)], null)).toEqual({
      exhausted: true,
      blockedUntil: 99,
      needsPerson: false,
    });
  });

  it('waits only for the full one', () => {
    expect(verdict([window('five_hour', 100, 10), window('weekly', 94.9, 99)], flag)).toEqual({
      exhausted: true,
      blockedUntil: 10,
      needsPerson: false,
    });
  });

  it('is not decided by a window that binds only some models', () => {
    expect(verdict([window('five_hour', 20, 10), window('weekly', 100, 99, 'opus')], null)).toEqual({
      exhausted: false,
      blockedUntil: null,
      needsPerson: false,
    });
  });

  it('believes the flag below the limit, and looks again at the earliest reset', () => {
    expect(verdict([window('weekly', 31, 99), window('five_hour', 92, 10)], flag)).toEqual({
      exhausted: true,
      blockedUntil: 10,
      needsPerson: false,
    });
  });

  it('prefers the time that the flag itself states', () => {
    expect(verdict([window('five_hour', 92, 10)], { flag: 'rejected', resetsAt: 50 }).blockedUntil).toBe(50);
  });

  it('needs a person when there is a flag and nothing that resets', () => {
    expect(verdict([], flag)).toEqual({ exhausted: true, blockedUntil: null, needsPerson: true });
  });

  it('knows no time for a full window without a reset, but needs no person for it', () => {
    expect(verdict([window('five_hour', 100, null)], null)).toEqual({
      exhausted: true,
      blockedUntil: null,
      needsPerson: false,
    });
  });

  it('takes the limit from its caller', () => {
    expect(verdict([window('five_hour', 91, 10)], null, 90).exhausted).toBe(true);
  });

  it('is open without any window', () => {
    expect(verdict([], null).exhausted).toBe(false);
  });
});
