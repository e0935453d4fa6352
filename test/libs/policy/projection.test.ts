import { expect, test } from 'vitest';
import { DEFAULT_CONFIG, heldBackAt, type AccountMeter, type Config, type DayTime, type LimitsData } from '#contract';
import { estimateEnd } from '#policy/end-estimate';
import { project } from '#policy/projection';
import { chargeOf, roomFor } from '#policy/room';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const HOUR = 3_600_000;
const iso = (hours: number): string => new Date(NOW + hours * HOUR).toISOString();

function account(id: 'codex' | 'claude', five: number, weekly: number, more: Partial<AccountMeter> = {}): AccountMeter {
  const window = (kind: 'five_hour' | 'weekly', used: number, resets: number): AccountMeter['windows'][number] => ({
    id: kind,
    kind,
    scope: null,
    usedPercent: used,
    reserved: 0,
    settling: 0,
    estimated: 0,
    effective: used,
    resetsAt: iso(resets),
  });
  return {
    account: id,
    lanes: [
      {
        id,
        vendor: id === 'codex' ? 'openai' : 'anthropic',
        kind: id,
        command: id,
        installed: true,
        endpoint: null,
        hold: null,
      },
    ],
    windows: [window('five_hour', five, id === 'codex' ? 2 : 3), window('weekly', weekly, 50)],
    inFlight: 0,
    paused: false,
    closed: null,
    reading: { source: 'x', writtenAt: iso(0), readAt: iso(0), plan: null, reached: null, overage: null },
    freshnessMs: 10_000,
    lastRunEndedAt: null,
    dark: null,
    costs: [],
    ...more,
  };
}
const picture = (...accounts: AccountMeter[]): LimitsData => ({
  node: 'n',
  writtenAt: iso(0),
  pressure: DEFAULT_CONFIG.pressure,
  accounts,
});
const config: Config = { ...DEFAULT_CONFIG, holdBack: { ...DEFAULT_CONFIG.holdBack, points: 0, slots: 0 } };
const laneOf = (id: string): Config['lanes'][number] =>
  config.lanes.find((lane) => lane.id === id) as Config['lanes'][number];

const dayOf = (at: number): DayTime => ({
  minutes: new Date(at).getUTCHours() * 60,
  weekday: new Date(at).getUTCDay(),
});
const work = { interactive: false, now: NOW, day: dayOf(NOW) };

test('a batch fills the lanes in the policy’s order, each window to its limit, and the rest waits for the first reset', () => {
  const { tasks, windows } = project(
    Array.from({ length: 20 }, () => ({})),
    picture(account('codex', 90, 10), account('claude', 88, 10)),
    config,
    NOW,
    dayOf,
  );
  const at = (lane: string, hours: number): number =>
    tasks.filter(
      ({ decision, startsAfter }) => decision.ok && decision.lane === lane && startsAfter === NOW + hours * HOUR,
    ).length;
  // 5 points are left on codex, 7 on claude; the reset of codex' window comes first, and takes all that waits.
  expect([at('codex', 0), at('claude', 0), at('codex', 2), tasks.length]).toEqual([5, 7, 8, 20]);
  expect(windows.find(({ account: of, window }) => of === 'codex' && window === 'five_hour')).toMatchObject({
    adds: 13,
    atOnce: 5,
    limit: 95,
    effective: 90,
  });
  expect(windows.find(({ account: of, window }) => of === 'claude' && window === 'weekly')?.adds).toBeCloseTo(1.4);
});

test('what no reset can help is said to have no start', () => {
  const full = account('codex', 99, 10);
  const { tasks } = project(
    [{ pin: 'codex' }, {}],
    picture({ ...full, windows: full.windows.map((window) => ({ ...window, resetsAt: null })) }),
    { ...config, lanes: [laneOf('codex')] },
    NOW,
    dayOf,
  );
  expect(tasks.map(({ startsAfter, decision }) => [startsAfter, decision.ok])).toEqual([
    [null, false],
    [null, false],
  ]);
});

test('a closed account opens when its vendor said, and a long batch goes through several windows', () => {
  const one = { ...config, lanes: [laneOf('codex')] };
  const closed = project(
    [{}],
    picture(account('codex', 10, 10, { closed: { until: iso(1), reason: 'usage_limit' } })),
    one,
    NOW,
    dayOf,
  );
  expect(closed.tasks[0]?.startsAfter).toBe(NOW + HOUR);
  const { tasks } = project(
    Array.from({ length: 200 }, () => ({})),
    picture(account('codex', 0, 0)),
    one,
    NOW,
    dayOf,
  );
  const starts = [...new Set(tasks.map(({ startsAfter }) => startsAfter))];
  expect(starts).toEqual([NOW, NOW + 2 * HOUR, NOW + 7 * HOUR]);
  expect(starts.map((start) => tasks.filter(({ startsAfter }) => startsAfter === start).length)).toEqual([95, 95, 10]);
});

test('a picture that is too old holds nothing back, because it says nothing', () => {
  const old = { ...picture(account('codex', 99, 99)), writtenAt: iso(-2) };
  expect(project([{}], old, config, NOW, dayOf).tasks[0]).toMatchObject({
    startsAfter: NOW,
    decision: { ok: true, lane: 'codex', states: { codex: 'unknown' } },
  });
});

test('room is what the gate counts: measured costs, scoped windows, held-back points and slots', () => {
  const scoped = account('claude', 10, 10);
  scoped.windows.push({
    id: 'weekly:opus',
    kind: 'weekly',
    scope: 'opus',
    usedPercent: 94.9,
    reserved: 0,
    settling: 0,
    estimated: 0,
    effective: 94.9,
    resetsAt: iso(9),
  });
  scoped.costs.push({ lane: 'claude', tier: 'frontier', window: 'five_hour', points: 2.5, measured: 12 });
  const opus = chargeOf(scoped, laneOf('claude'), { tier: 'frontier', model: 'opus' });
  expect(opus).toEqual({ five_hour: 2.5, weekly: 0.2, 'weekly:opus': 0.2 });
  expect(chargeOf(scoped, laneOf('claude'), { tier: 'balanced', model: 'sonnet' })).toEqual({
    five_hour: 1,
    weekly: 0.2,
  });
  expect(roomFor(scoped, opus, config, work)).toMatchObject({ free: false, for: 'quota', until: iso(9) });
  expect(roomFor(scoped, { five_hour: 1, weekly: 0.2 }, config, work)).toEqual({ free: true });

  const tight = account('codex', 94, 10);
  const held = { ...config, holdBack: { ...config.holdBack, points: 1, slots: 1 } };
  expect(roomFor(tight, { five_hour: 1 }, held, { ...work, interactive: true })).toEqual({ free: true });
  expect(roomFor(tight, { five_hour: 1 }, held, work)).toMatchObject({ free: false, for: 'quota', until: iso(2) });
  expect(roomFor({ ...tight, inFlight: 7 }, {}, held, work)).toMatchObject({ free: false, for: 'slot' });
  expect(roomFor(tight, { five_hour: 1 }, held, { ...work, now: NOW + 3 * HOUR })).toEqual({ free: true });
});

test('what a person keeps for some hours is kept on that account, in these hours and on these days', () => {
  const hours = (more: Partial<Config['holdBackHours'][number]>): Config => ({
    ...config,
    holdBackHours: [{ from: 22 * 60, until: 9 * 60, days: [], account: 'claude', points: 20, slots: 2, ...more }],
  });
  const held = (minutes: number, weekday: number, rules: Config, id = 'claude'): number =>
    heldBackAt(rules, id, { minutes, weekday }).points;
  expect([
    held(21 * 60, 1, hours({})),
    held(22 * 60, 1, hours({})),
    held(0, 2, hours({})),
    held(9 * 60 - 1, 2, hours({})),
    held(9 * 60, 2, hours({})),
  ]).toEqual([0, 20, 20, 20, 0]);
  expect([held(0, 1, hours({}), 'codex'), held(0, 1, hours({ account: null }), 'codex')]).toEqual([0, 20]);
  // Friday's night goes on into Saturday's morning.
  const friday = hours({ days: ['fri'] });
  expect([
    held(60, 5, friday),
    held(23 * 60, 5, friday),
    held(60, 6, friday),
    held(23 * 60, 6, friday),
    held(60, 0, friday),
  ]).toEqual([0, 20, 20, 0, 0]);
  expect([held(60, 0, hours({ days: ['sat'] })), held(600, 3, hours({ from: 0, until: 0 }))]).toEqual([20, 20]);
  const night = account('claude', 80, 10);
  expect(
    roomFor(night, { five_hour: 1 }, hours({}), { interactive: false, now: NOW, day: { minutes: 60, weekday: 2 } }),
  ).toMatchObject({ free: false, for: 'quota' });
  expect(
    roomFor(night, { five_hour: 1 }, hours({}), { interactive: true, now: NOW, day: { minutes: 60, weekday: 2 } }),
  ).toEqual({ free: true });
  expect(
    roomFor(
      { ...account('claude', 10, 10), inFlight: 3 },
      {},
      { ...config, accounts: [{ id: 'claude', slots: 3 }] },
      work,
    ),
  ).toMatchObject({ free: false, for: 'slot' });
});

test('the end is when the last lane is through, each with all its slots', () => {
  const groups = [
    { lane: 'codex', startsAfter: NOW, count: 10 },
    { lane: 'codex', startsAfter: NOW + HOUR, count: 1 },
    { lane: 'claude', startsAfter: NOW, count: 3 },
  ];
  expect(
    estimateEnd(
      groups,
      () => 4,
      () => HOUR,
    ),
  ).toBe(NOW + 4 * HOUR);
  expect(
    estimateEnd(
      groups,
      () => 4,
      (lane) => (lane === 'claude' ? null : HOUR),
    ),
  ).toBeNull();
  expect(
    estimateEnd(
      [],
      () => 4,
      () => HOUR,
    ),
  ).toBeNull();
});
