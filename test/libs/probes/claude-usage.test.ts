import { describe, expect, it } from 'vitest';
import { readClaudeUsage, verdict, type UsageAnswer } from '#probes';
import { DAY, HOUR, MINUTE, NOW } from './rollouts.js';

const iso = (ms: number): string => new Date(ms).toISOString();
const read = (body: unknown, more: Partial<UsageAnswer> = {}) =>
  readClaudeUsage({ httpStatus: 200, body: JSON.stringify(body), ...more }, { account: 'claude', now: NOW });
const windowsOf = (body: unknown) => {
  const probe = read(body);
  return probe.kind === 'dark' ? probe.reason : probe.reading.windows.map(({ id, usedPercent }) => [id, usedPercent]);
};
const five_hour = { utilization: 20, resets_at: iso(NOW + 2 * HOUR) };
const seven_day = { utilization: 40, resets_at: iso(NOW + 4 * DAY) };
const row = (more: Record<string, unknown>) => ({
  kind: 'weekly_scoped',
  group: 'weekly',
  percent: 100,
  severity: 'critical',
  resets_at: iso(NOW + 4 * DAY),
  scope: null,
  ...more,
});

describe('the answer of the claude usage endpoint', () => {
  it('gives the windows of the account and of single models, with percents 0..100', () => {
    expect(
      read({
        five_hour,
        seven_day: { ...seven_day, utilization: 0.5 },
        seven_day_opus: seven_day,
        extra_usage: { is_enabled: true, monthly_limit: 5000, used_credits: 1200, utilization: 24 },
      }),
    ).toEqual({
      kind: 'reading',
      reading: {
        account: 'claude',
        source: 'claude usage endpoint',
        writtenAt: NOW,
        readAt: NOW,
        plan: null,
        complete: true,
        reached: null,
        overage: { enabled: true, inUse: null, unlimited: false, balance: '1200 of 5000 cents', usedPercent: 24 },
        windows: [
          { id: 'five_hour', kind: 'five_hour', usedPercent: 20, resetsAt: NOW + 2 * HOUR, scope: null },
          { id: 'weekly', kind: 'weekly', usedPercent: 0.5, resetsAt: NOW + 4 * DAY, scope: null },
          { id: 'weekly:opus', kind: 'weekly', usedPercent: 40, resetsAt: NOW + 4 * DAY, scope: 'opus' },
        ],
      },
    });
  });

  it('keeps a window that has not been opened yet: 0 without a reset', () => {
    expect(windowsOf({ five_hour: { utilization: 0, resets_at: null }, seven_day })).toEqual([
      ['five_hour', 0],
      ['weekly', 40],
    ]);
  });

  it('never takes a pool it does not know for the one of the account', () => {
    const limits = [
      row({ kind: 'hologram' }),
      row({ kind: 'weekly_walnut' }),
      row({}),
      row({ kind: 'hologram', group: 'ink' }),
      row({ scope: { model: { id: 'claude-opus-4-5', display_name: null } } }),
    ];
    expect(windowsOf({ five_hour, seven_day, iguana: seven_day, seven_day_oauth_apps: seven_day, limits })).toEqual([
      ['five_hour', 20],
      ['weekly', 40],
      ['weekly:oauth_apps', 40],
      ['weekly:hologram', 100],
      ['weekly:walnut', 100],
      ['weekly:opus', 100],
    ]);
  });

  it('names a model by its word, whatever version stands beside it', () => {
    const scoped = (display_name: string) =>
      windowsOf({ limits: [row({ scope: { model: { id: null, display_name }, surface: null } })] });
    expect(['Opus 4.5', 'Claude Sonnet', 'Fable'].map(scoped)).toEqual([
      [['weekly:opus', 100]],
      [['weekly:sonnet', 100]],
      [['weekly:fable', 100]],
    ]);
  });

  it('believes a row of the account that says blocked, and not one of a single model', () => {
    const blocked = read({
      five_hour,
      seven_day,
      limits: [
        row({ kind: 'session', group: 'session', percent: 20, severity: 'blocked', resets_at: iso(NOW + 2 * HOUR) }),
      ],
    });
    expect(blocked.kind === 'reading' && verdict(blocked.reading.windows, blocked.reading.reached)).toEqual({
      exhausted: true,
      blockedUntil: NOW + 2 * HOUR,
      needsPerson: false,
    });
    expect(
      read({
        five_hour,
        seven_day,
        limits: [row({ severity: 'blocked', scope: { model: { display_name: 'Fable' } } })],
      }),
    ).toMatchObject({ reading: { reached: null } });
  });

  it('was written when the vendor says so, but never later than now', () => {
    const at = (date: string) => read({ five_hour }, { headers: { Date: date } });
    expect(at(new Date(NOW - 2 * MINUTE).toUTCString())).toMatchObject({ reading: { writtenAt: NOW - 2 * MINUTE } });
    expect(at(new Date(NOW + 2 * MINUTE).toUTCString())).toMatchObject({ reading: { writtenAt: NOW } });
    expect(at('tomorrow')).toMatchObject({ reading: { writtenAt: NOW } });
  });

  it('is unknown, never 0, when it holds no window', () => {
    for (const body of [
      {},
      { five_hour: null, seven_day: null },
      { five_hour: 20 },
      { five_hour: { utilization: null } },
      { limits: [null, 7] },
      { limits: 'x' },
      { __proto__: five_hour },
    ])
      expect(windowsOf(body)).toBe('no_windows');
    for (const body of [null, [], 7, 'x', [five_hour]]) expect(windowsOf(body)).toBe('bad_body');
    for (const text of ['', '<html>', '{"five_hour":'])
      expect(read(null, { body: text })).toMatchObject({ reason: 'bad_body' });
  });
});

describe('why the usage endpoint gave no reading', () => {
  const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });

  it.each([
    [401, error('authentication_error', 'OAuth token has expired. Please obtain a new token.'), 'auth_expired'],
    [401, error('authentication_error', 'Invalid bearer token'), 'auth_invalid'],
    [401, error('authentication_error', 'OAuth token revoked'), 'auth_invalid'],
    [401, '', 'auth_expired'],
    [403, '<html>', 'forbidden'],
    [429, '', 'throttled'],
    [500, {}, 'server_error'],
    [529, error('overloaded_error', 'Overloaded'), 'server_error'],
    [404, {}, 'server_error'],
    [302, '', 'server_error'],
    [0, '', 'server_error'],
    [200, error('rate_limit_error', 'Rate limited.'), 'throttled'],
    [200, error('authentication_error', 'expired'), 'auth_expired'],
    [204, '', 'bad_body'],
  ])('HTTP %i with %j is %s', (httpStatus, body, reason) => {
    expect(read(body, { httpStatus })).toMatchObject({ kind: 'dark', reason });
  });

  it('asks again no sooner than a minute, and no later than an hour, whatever retry-after says', () => {
    const wait = (header: unknown) => read({}, { httpStatus: 429, headers: { 'Retry-After': header } });
    expect(
      [undefined, '0', '-5', 'soon', '90', 600, '1e9', new Date(NOW + 5 * MINUTE).toUTCString()]
        .map(wait)
        .map((dark) => dark.kind === 'dark' && dark.retryAfterMs),
    ).toEqual([MINUTE, MINUTE, MINUTE, MINUTE, 90_000, 10 * MINUTE, HOUR, 5 * MINUTE]);
  });
});
