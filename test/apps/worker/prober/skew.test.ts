import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openGate } from '#gate';
import { meterFeed } from '#worker/meter-feed';
import { claudeProbe } from '#worker/prober/claude-probe';
import { loginKeeper } from '#worker/prober/login-keeper';
import { sharedTime } from '#worker/prober/shared-time';
import { openTurns } from '#worker/prober/turns';
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
beforeEach(async () => {
  await redis.flushall();
});

/** A box whose clock is off; Redis' and the vendor's are right. */
function boxOff(ahead: number) {
  const clock = (): number => Date.now() + ahead;
  const folder = tempFolder('skew');
  const base = testConfig({
    claudeCredentials: join(folder, '.credentials.json'),
    codexSessionsRoot: join(folder, 'sessions'),
  });
  const config = { ...base, lanes: base.lanes.map((lane) => ({ ...lane, usageUrl: `${door.url}/api/oauth/usage` })) };
  const gate = openGate(redis, config);
  const time = sharedTime(redis, clock);
  const feed = meterFeed({ gate, config, log, time });
  writeLogin(config.claudeCredentials ?? '', { inMs: 60 * MINUTE });
  const keeper = loginKeeper({
    config,
    environment: {},
    clock,
    log,
    submitted: () => Promise.resolve(null),
    wanted: () => Promise.resolve(false),
    changed() {},
    events() {},
    turn: () => Promise.resolve({ ran: false, why: '' }),
  });
  const ask = claudeProbe({
    keeper,
    turns: openTurns(redis, time),
    time,
    clock,
    take: (reading) => feed.take(reading),
  });
  return {
    clock,
    folder,
    config,
    gate,
    feed,
    ask: () => ask(laneOf(config, 'claude')),
    claude: laneOf(config, 'claude'),
    codex: laneOf(config, 'codex'),
  };
}

describe.each([5 * MINUTE, -5 * MINUTE, 0])('on a box whose clock is %d ms off', (ahead) => {
  test("a claude run's reading is dated by the shared clock, and a window about to reset is not taken for reset", async () => {
    const { gate, feed, claude, clock } = boxOff(ahead);
    const before = Date.now();
    const resetsAt = Math.floor((before + 2 * MINUTE) / 1000);
    await feed.claudeEvent(
      claude,
      { status: 'allowed', unifiedWindows: { five_hour: { utilization: 0.96, resetsAt, status: 'allowed' } } },
      clock(),
    );
    const { reading, windows } = await gate.snapshot('claude');
    expect(reading?.writtenAt).toBeGreaterThanOrEqual(before - 100);
    expect(reading?.writtenAt).toBeLessThanOrEqual(Date.now());
    expect(windows).toMatchObject([{ usedPercent: 96, resetsAt: resetsAt * 1000 }]);
  });

  test("codex's lines, which that box has dated, are moved to the shared clock", async () => {
    const { gate, feed, codex, clock, folder } = boxOff(ahead);
    const day = join(folder, 'sessions/2026/11/20');
    mkdirSync(day, { recursive: true });
    const written = Date.now() - 30_000;
    const limits = {
      limit_id: 'codex',
      primary: { used_percent: 96, window_minutes: 300, resets_at: Math.floor((Date.now() + 2 * MINUTE) / 1000) },
      secondary: null,
    };
    writeFileSync(
      join(day, 'rollout-2026-11-20T03-00-00-a.jsonl'),
      `${JSON.stringify({ timestamp: new Date(clock() - 30_000).toISOString(), type: 'event_msg', payload: { type: 'token_count', info: null, rate_limits: limits } })}\n`,
    );
    await feed.codexIdle(codex, true);
    const { reading, windows } = await gate.snapshot('codex');
    expect(Math.abs((reading?.writtenAt ?? 0) - written)).toBeLessThan(1_000);
    expect(windows).toMatchObject([{ usedPercent: 96 }]);
  });

  test("the usage endpoint's answer is as old as the question, whatever the two clocks say", async () => {
    const { gate, ask } = boxOff(ahead);
    const before = Date.now();
    expect(await ask()).toEqual({ how: 'read' });
    const { reading } = await gate.snapshot('claude');
    expect(reading?.writtenAt).toBeGreaterThanOrEqual(before - 100);
    expect(reading?.writtenAt).toBeLessThanOrEqual(Date.now());
  });
});

test('readings of boxes whose clocks are ten minutes apart are taken in the order in which they were written', async () => {
  const [ahead, behind] = [boxOff(5 * MINUTE), boxOff(-5 * MINUTE)];
  const event = (box: ReturnType<typeof boxOff>, used: number) =>
    box.feed.claudeEvent(
      box.claude,
      {
        status: 'allowed',
        unifiedWindows: {
          five_hour: { utilization: used, resetsAt: Math.floor(Date.now() / 1000) + 9000, status: 'allowed' },
        },
      },
      box.clock(),
    );
  await event(ahead, 0.1);
  await event(behind, 0.11);
  await event(ahead, 0.12);
  expect((await ahead.gate.snapshot('claude')).windows).toMatchObject([{ usedPercent: 12 }]);
});
