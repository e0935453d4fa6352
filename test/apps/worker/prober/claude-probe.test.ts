import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openGate, type Gate } from '#gate';
import type { Config, LaneConfig } from '#contract';
import { limitsText } from '#cli/output/limits-text';
import { paintFor } from '#cli/output/paint';
import { meterFeed } from '#worker/meter-feed';
import { claudeProbe, type Asked } from '#worker/prober/claude-probe';
import { limitsData } from '#worker/prober/limits-data';
import { loginKeeper } from '#worker/prober/login-keeper';
import { sharedTime, type SharedTime } from '#worker/prober/shared-time';
import { openTurns, type Turns } from '#worker/prober/turns';
import { laneOf, testConfig } from '../../../support/records.js';
import { startRedis, type TestRedis } from '../../../support/redis.js';
import { tempFolder } from '../../../support/temp.js';
import { writeLogin } from './login-file.js';
import { openDoor, type UsageDoor } from './usage-door.js';

const MINUTE = 60_000;
const log = { info() {}, warn() {}, error() {} };

let server: TestRedis;
let redis: Redis;
let door: UsageDoor;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  door = await openDoor();
});
afterAll(async () => {
  await door.close();
  await server.close();
});

let login: string;
/** The prober's clock, driven by the test. */
let now: number;
beforeEach(async () => {
  await redis.flushall();
  door.answer = null;
  door.calls = [];
  login = join(tempFolder('login'), '.credentials.json');
  writeLogin(login, { inMs: 24 * 60 * MINUTE });
  now = Date.now();
});

/** One process' prober of the claude account. */
function prober(time: SharedTime = () => Promise.resolve({ now, offsetMs: 0 })): {
  ask: (asked?: boolean) => Promise<Asked>;
  gate: Gate;
  turns: Turns;
  lane: LaneConfig;
  config: Config;
} {
  const base = testConfig({ claudeCredentials: login });
  const config = { ...base, lanes: base.lanes.map((lane) => ({ ...lane, usageUrl: `${door.url}/api/oauth/usage` })) };
  const gate = openGate(redis, config);
  const turns = openTurns(redis, time);
  const feed = meterFeed({ gate, config, log, time });
  const keeper = loginKeeper({
    config,
    environment: {},
    clock: () => now,
    log,
    submitted: () => Promise.resolve(null),
    wanted: () => Promise.resolve(true),
    changed() {},
    events() {},
    turn: () => Promise.resolve({ ran: false, why: 'not in this test' }),
  });
  const probe = claudeProbe({ keeper, turns, time, clock: () => now, take: (reading) => feed.take(reading) });
  const lane = laneOf(config, 'claude');
  return { ask: (asked) => probe(lane, asked), gate, turns, lane, config };
}

describe('the usage endpoint', () => {
  test('answers once per freshness time for all processes, and its reading is in the gate', async () => {
    const boxes = Array.from({ length: 8 }, () => prober());
    const answers = await Promise.all(boxes.flatMap(({ ask }) => [ask(), ask(true)]));
    expect(door.calls).toHaveLength(1);
    expect(answers.filter(({ how }) => how === 'read')).toHaveLength(1);
    expect(
      (await prober().gate.snapshot('claude')).windows.map(({ id, usedPercent }) => [id, usedPercent]).sort(),
    ).toEqual([
      ['five_hour', 3],
      ['weekly', 27],
      ['weekly:sonnet', 1],
    ]);
    now += 44_000;
    expect(await prober().ask(true)).toMatchObject({ how: 'resting' });
    now += 2_000;
    expect(await prober().ask()).toEqual({ how: 'read' });
    expect(door.calls).toHaveLength(2);
  });

  test('that answers 429 for half an hour is asked ten times at most, and the last reading stays with its age', async () => {
    const box = prober();
    await box.ask();
    const writtenAt = (await box.gate.snapshot('claude')).reading?.writtenAt;
    door.answer = { status: 429, headers: { 'retry-after': '0' } };
    door.calls = [];
    const began = now;
    for (; now < began + 30 * MINUTE; now += 1_000) await box.ask(now % 60_000 < 1_000);
    expect(door.calls.length).toBeGreaterThan(2);
    expect(door.calls.length).toBeLessThanOrEqual(10);
    const snapshot = await box.gate.snapshot('claude');
    expect(snapshot.reading?.writtenAt).toBe(writtenAt);
    expect(snapshot.windows.find(({ id }) => id === 'weekly')?.usedPercent).toBe(27);
    const state = await box.turns.state('claude');
    expect(state.dark).toMatchObject({ reason: 'throttled' });
    expect(state.dark?.since).toBeLessThan(began + 2 * MINUTE);
    // What a person sees then: the dark meter first, with why and since when; its last number with its age.
    const quiet = { okAt: now, til: null, dark: null };
    const here = { installed: true, hold: null };
    await box.gate.read({
      account: 'codex',
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 90, resetsAt: null, scope: null }],
      source: 'codex session log',
      writtenAt: now,
      readAt: now,
      plan: null,
    });
    const accounts = [
      { snapshot: await box.gate.snapshot('codex'), source: quiet, costs: [] },
      { snapshot, source: state, costs: [] },
    ];
    const [first = '', second = ''] = limitsText(
      limitsData(box.config, accounts, { codex: here, claude: here }, now, 0),
      paintFor(false),
      now,
    );
    expect(first).toMatch(/^claude {2}ok {2}as of (29|30|31)m \d\ds ago \(stale\), from claude usage endpoint$/);
    expect(second).toMatch(
      /^ {2}no new numbers since .* \((28|29|30)m \d\ds ago\): The usage endpoint throttles the meter/,
    );
    // It answers again: one question, and nothing of the trouble is left.
    door.answer = null;
    now = Math.max(now, state.til ?? 0) + 1;
    expect(await box.ask()).toEqual({ how: 'read' });
    expect(await box.turns.state('claude')).toMatchObject({ dark: null, okAt: now });
  });

  test.each([500, 503, 302])('that answers %d is left alone longer each time', async (status) => {
    const box = prober();
    door.answer = { status, body: '' };
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      expect(await box.ask()).toMatchObject({ how: 'dark', reason: 'server_error' });
      const { til } = await box.turns.state('claude');
      waits.push(((til ?? 0) - now) / MINUTE);
      now = til ?? 0;
    }
    expect(waits).toEqual([1, 2, 4, 8]);
  });

  test('that forbids a login is asked again as soon as there is another login, and no sooner than the freshness', async () => {
    const box = prober();
    door.answer = { status: 403 };
    expect(await box.ask()).toMatchObject({ how: 'dark', reason: 'forbidden' });
    now += 10 * MINUTE;
    expect(await box.ask()).toMatchObject({ how: 'backing-off' });
    writeLogin(login, { accessToken: 'another', inMs: 24 * 60 * MINUTE });
    door.answer = null;
    expect(await box.ask()).toEqual({ how: 'read' });
    expect(door.calls.at(-1)?.authorization).toBe('Bearer another');
  });

  test('that is asked by a process which dies is asked by another one when its lease is over', async () => {
    await prober().turns.take('claude', 45_000, 'stamp');
    expect(await prober().ask()).toMatchObject({ how: 'asking' });
    now += 46_000;
    expect(await prober().ask()).toEqual({ how: 'read' });
  });

  test('is not held back by a clock that was put right: nothing is left alone for longer than anything asks for', async () => {
    now += 365 * 24 * 60 * MINUTE;
    door.answer = { status: 429 };
    await prober().ask();
    door.answer = null;
    now -= 365 * 24 * 60 * MINUTE;
    expect(await prober().ask()).toEqual({ how: 'read' });
  });

  test('answers with what was so when it was asked: a run that ended meanwhile stays unsettled', async () => {
    const time = sharedTime(redis, Date.now);
    const box = prober(time);
    await box.gate.reserve('t', box.lane, 'claude@n', 'n');
    let ended = 0;
    door.before = async () => {
      ended = (await time()).now;
    };
    await box.ask();
    door.before = () => Promise.resolve();
    expect((await box.gate.snapshot('claude')).reading?.writtenAt).toBeLessThanOrEqual(ended);
  });

  test('without a login is not asked, and why is known; a box that has one is believed', async () => {
    const here = prober();
    await here.ask();
    login = join(tempFolder('none'), '.credentials.json');
    const other = prober();
    expect(await other.ask()).toMatchObject({ how: 'dark', reason: 'no_login' });
    expect((await other.turns.state('claude')).dark).toBeNull();
    now += 5 * MINUTE;
    await other.ask();
    expect((await other.turns.state('claude')).dark).toMatchObject({ reason: 'no_login', since: now });
    expect(door.calls).toHaveLength(1);
  });
});
