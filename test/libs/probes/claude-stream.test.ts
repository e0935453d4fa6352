import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRateLimitEvent, verdict } from '#probes';
import { DAY, HOUR, MINUTE, NOW } from './rollouts.js';

const read = (info: unknown, now = NOW) => readRateLimitEvent(info, { account: 'claude', seenAt: now - MINUTE, now });
const seconds = (ms: number): number => ms / 1000;
const unifiedWindows = {
  five_hour: { utilization: 0.97, resetsAt: seconds(NOW + 2 * HOUR), status: 'allowed_warning' },
  seven_day: { utilization: 0.27, resetsAt: seconds(NOW + 4 * DAY), status: 'allowed' },
};

describe('the rate_limit_event of a claude run', () => {
  it('gives every window it names, turned from 0..1 to percents, as old as the line', () => {
    expect(
      read({
        status: 'allowed',
        rateLimitType: 'seven_day',
        unifiedWindows,
        overageStatus: 'rejected',
        isUsingOverage: false,
      }),
    ).toEqual({
      kind: 'reading',
      reading: {
        account: 'claude',
        source: 'claude stream',
        writtenAt: NOW - MINUTE,
        readAt: NOW,
        plan: null,
        complete: true,
        reached: null,
        overage: { enabled: false, inUse: false, unlimited: false, balance: null, usedPercent: null },
        windows: [
          { id: 'five_hour', kind: 'five_hour', usedPercent: 97, resetsAt: NOW + 2 * HOUR, scope: null },
          { id: 'weekly', kind: 'weekly', usedPercent: 27, resetsAt: NOW + 4 * DAY, scope: null },
        ],
      },
    });
  });

  it('gives the one window of a build that names no more, and says that it is not all', () => {
    const info = {
      status: 'allowed_warning',
      rateLimitType: 'five_hour',
      utilization: 0.8,
      resetsAt: seconds(NOW + HOUR),
    };
    expect(read(info)).toMatchObject({
      reading: { complete: false, windows: [{ id: 'five_hour', usedPercent: 80, resetsAt: NOW + HOUR }] },
    });
  });

  it('is dark when it is allowed and carries no figure', () => {
    expect(read({ status: 'allowed', rateLimitType: 'five_hour', resetsAt: seconds(NOW + HOUR) })).toMatchObject({
      kind: 'dark',
      reason: 'no_windows',
    });
    for (const info of [null, undefined, 'x', []])
      expect(read(info)).toMatchObject({ kind: 'dark', reason: 'bad_body' });
  });

  it('closes the account until the stated reset when a window of the account is rejected', () => {
    const probe = read({ status: 'rejected', rateLimitType: 'seven_day', resetsAt: seconds(NOW + DAY) });
    expect(probe).toMatchObject({ reading: { complete: false, windows: [{ id: 'weekly', usedPercent: 100 }] } });
    expect(probe.kind === 'reading' && verdict(probe.reading.windows, probe.reading.reached)).toMatchObject({
      exhausted: true,
      blockedUntil: NOW + DAY,
    });
  });

  it('closes one model only when its window is rejected', () => {
    const probe = read({
      status: 'rejected',
      rateLimitType: 'seven_day_opus',
      resetsAt: seconds(NOW + DAY),
      unifiedWindows,
    });
    expect(probe).toMatchObject({
      reading: { reached: null, windows: [{}, {}, { id: 'weekly:opus', usedPercent: 100, scope: 'opus' }] },
    });
  });

  it('does not take a short-term limit for a closed window', () => {
    expect(read({ status: 'rejected', isUsingOverage: false })).toMatchObject({ kind: 'dark', reason: 'no_windows' });
  });

  it('does not count overage as room', () => {
    const probe = read({
      status: 'allowed',
      isUsingOverage: true,
      overageStatus: 'allowed',
      unifiedWindows: { five_hour: { utilization: 1.04, resetsAt: seconds(NOW + HOUR) } },
    });
    expect(probe).toMatchObject({
      reading: { windows: [{ usedPercent: 100 }], overage: { enabled: true, inUse: true } },
    });
    expect(probe.kind === 'reading' && verdict(probe.reading.windows, probe.reading.reached).exhausted).toBe(true);
  });

  it("has no figure if the vendor's value is not a share of a window", () => {
    expect(
      read({ status: 'allowed', unifiedWindows: { five_hour: { utilization: 27 }, seven_day: { utilization: 0.27 } } }),
    ).toMatchObject({ reading: { windows: [{ id: 'weekly', usedPercent: 27 }] } });
  });

  it('reads every event that the real CLI printed', () => {
    const samples = new URL('../../vendor-sim/samples/claude/', import.meta.url);
    const seen: Record<string, unknown> = {};
    for (const name of readdirSync(samples).filter((one) => one.endsWith('.jsonl'))) {
      const line = readFileSync(new URL(name, samples), 'utf8')
        .split('\n')
        .find((one) => one.includes('"rate_limit_event"'));
      if (!line) continue;
      const probe = read((JSON.parse(line) as { rate_limit_info: unknown }).rate_limit_info, 1795994410_000);
      seen[name] = probe.kind === 'dark' ? probe.reason : probe.reading.windows.map(({ usedPercent }) => usedPercent);
    }
    expect(Object.values(seen)).toHaveLength(6);
    expect(seen).toMatchObject({
      'echo.jsonl': [3, 27],
      'usage-limit.jsonl': [100, 27],
      'rate-limit.jsonl': 'no_windows',
    });
  });
});
