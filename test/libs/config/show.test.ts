import { expect, test } from 'vitest';
import { configFrom, configRows, parseDuration, shownValue } from '#config';

const machine = { home: '/home/me', hostname: 'box-1', cores: 2 };
const text = JSON.stringify({
  lanes: { third: { kind: 'claude', env: { KEY: 'canary' }, slots: 2 } },
  fleet: { token: 'canary-canary-canary', url: 'https://x' },
  redisUrl: 'redis://:canary@h',
});

test('what is shown, written into a file, gives the same configuration again', () => {
  const loaded = configFrom(text, { file: 'f', env: { CMO_CODEX_FAST: 'm' }, machine });
  if (!loaded.ok) throw new Error('refused');
  const file: Record<string, unknown> = {};
  for (const { path, value } of configRows(loaded.config)) {
    if (value === null && /^(redisUrl|fleet)/.test(path)) continue;
    const steps = path.split('.');
    let at = file;
    for (const step of steps.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
    at[steps.at(-1) ?? ''] = value;
  }
  const again = configFrom(JSON.stringify(file), {
    file: 'f',
    env: {},
    machine: { ...machine, hostname: 'other', cores: 9 },
  });
  expect(again).toMatchObject({ ok: true, config: loaded.config });
});

test('each row has an origin, and secrets are shown as set', () => {
  const loaded = configFrom(text, { file: 'f', env: {}, machine });
  if (!loaded.ok) throw new Error('refused');
  const rows = configRows(loaded.config);
  expect(rows.filter(({ path }) => !loaded.origins.has(path))).toEqual([]);
  expect(JSON.stringify(rows.map(shownValue))).not.toContain('canary');
  expect(shownValue(rows.find(({ path }) => path === 'lanes.third.env') ?? { path: '', value: 0 })).toEqual({
    KEY: '(set)',
  });
});

test.each([
  ['90', 90_000],
  ['90s', 90_000],
  ['1.5m', 90_000],
  ['8h', 28_800_000],
  ['2d', 172_800_000],
  ['250ms', 250],
])('%s is a duration', (given, ms) => {
  expect(parseDuration(given, 's')).toBe(ms);
});

test.each(['', 'abc', '-1', '5x', '1e3', '0x10', '5 m', 'Infinity', '1h30m'])('%j is no duration', (given) => {
  expect(parseDuration(given, 's')).toBeNull();
});
