import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rawWindows, readRateLimitLine } from '#probes/codex-rate-limits';
import { countLine, limits, MINUTE, NOW } from './rollouts.js';

type Sample = { cli_version: string; scenario: string; line: { timestamp: string } };
const samples = readFileSync(
  new URL('../../vendor-sim/samples/codex-rate-limits-by-version.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Sample);

describe('a rate-limit line of a session file', () => {
  it.each(samples.map((sample) => [sample.cli_version, sample.scenario, sample] as const))(
    'of codex %s (%s) gives both windows with absolute resets',
    (_, scenario, { line }) => {
      const entry = readRateLimitLine(JSON.stringify(line));
      const written = Date.parse(line.timestamp);
      expect(entry).toMatchObject({ accountPool: true, timestamp: written, reached: null });
      const windows = entry ? rawWindows(entry, written) : [];
      expect(windows.map(({ kind, usedPercent }) => [kind, usedPercent])).toEqual([
        ['five_hour', scenario === 'usage-limit' ? 100 : 2],
        ['weekly', 5],
      ]);
      for (const { resetsAt, lengthMs } of windows) {
        expect(resetsAt).toBeGreaterThan(written);
        expect(resetsAt).toBeLessThanOrEqual(written + lengthMs);
      }
    },
  );

  it('counts seconds until the reset from the time of the line', () => {
    const entry = readRateLimitLine(
      countLine({ primary: { used_percent: 1, window_minutes: 299, resets_in_seconds: 60 } }, 10 * MINUTE),
    );
    expect(entry && rawWindows(entry, NOW - 10 * MINUTE)[0]?.resetsAt).toBe(NOW - 9 * MINUTE);
  });

  it('is read whatever the slots are called by: beside each other, in an old event, or as the web answer names them', () => {
    const old = {
      id: '3',
      msg: { type: 'token_count', rate_limits: { primary_used_percent: 7, primary_window_minutes: 300 } },
    };
    expect(readRateLimitLine(JSON.stringify(old))?.slots).toMatchObject([
      { slot: 'primary', usedPercent: 7, minutes: 300, resetsAt: null },
    ]);
    const web = countLine({ primary: { used_percent: 7, limit_window_seconds: 18_000, reset_at: NOW / 1000 } });
    expect(readRateLimitLine(web)?.slots).toMatchObject([{ minutes: 300, resetsAt: NOW }]);
  });

  it('is none when a tool printed it, when it is cut, or when it has no limits', () => {
    const quoted = JSON.stringify({
      type: 'response_item',
      payload: { type: 'function_call_output', output: countLine(limits(100, 100)) },
    });
    const disguised = JSON.stringify({
      type: 'response_item',
      payload: { type: 'token_count', rate_limits: limits(100, 100) },
    });
    const nested = JSON.stringify({
      type: 'event_msg',
      payload: { type: 'agent_message', message: { type: 'token_count', rate_limits: limits(100, 100) } },
    });
    for (const line of [
      quoted,
      disguised,
      nested,
      countLine(limits(1, 1)).slice(0, -9),
      countLine(null),
      countLine(undefined),
      countLine([]),
      'null',
      '7',
      '"rate_limits"',
      '',
    ]) {
      expect(readRateLimitLine(line), line.slice(0, 60)).toBeNull();
    }
  });

  it('refers to the account only under the ids codex and premium, or without an id', () => {
    const pools = ['codex', 'premium', ' Codex ', null, undefined, '', 'codex_bengalfox', 'gpt-x', 'constructor'].map(
      (id) => readRateLimitLine(countLine(limits(1, 1, { limit_id: id })))?.accountPool,
    );
    expect(pools).toEqual([true, true, true, true, true, true, false, false, false]);
  });

  it('loses one window when its percent is none, not the other', () => {
    const entry = readRateLimitLine(countLine(limits(1, 5, { primary: { used_percent: null, window_minutes: 300 } })));
    expect(entry?.slots.map(({ slot }) => slot)).toEqual(['secondary']);
  });

  it('carries the flag, the plan and the credits', () => {
    const entry = readRateLimitLine(
      countLine(
        limits(40, 10, {
          plan_type: 'pro',
          spend_control_reached: true,
          individual_limit: { resets_at: NOW / 1000 },
          credits: { has_credits: false, unlimited: false, balance: '0' },
        }),
      ),
    );
    expect(entry).toMatchObject({
      plan: 'pro',
      reached: 'spend_control_reached',
      spendResetsAt: NOW,
      overage: { enabled: false, unlimited: false, balance: '0' },
    });
    expect(
      readRateLimitLine(countLine(limits(40, 10, { rate_limit_reached_type: '', spend_control_reached: false })))
        ?.reached,
    ).toBeNull();
  });
});
