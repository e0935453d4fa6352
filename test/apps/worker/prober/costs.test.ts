import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { MeterReading } from '#contract';
import { openGate } from '#gate';
import { costLedgers } from '#worker/prober/cost-ledger';
import { measuredCosts } from '#worker/prober/measured-costs';
import { laneOf, testConfig } from '../../../support/records.js';
import { startRedis, type TestRedis } from '../../../support/redis.js';

const warnings: object[] = [];
const log = { info() {}, error() {}, warn: (fields: object) => void warnings.push(fields) };

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  warnings.length = 0;
});

const config = testConfig();
const lane = laneOf(config, 'claude');
const RESET = 1_900_000_000_000;
const reading = (at: number, usedPercent: number): MeterReading => ({
  account: 'claude',
  source: 'test',
  plan: null,
  writtenAt: at,
  readAt: at,
  windows: [
    { id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt: RESET, scope: null },
    { id: 'weekly:opus', kind: 'weekly', usedPercent: usedPercent / 4, resetsAt: RESET, scope: 'opus' },
  ],
});
const frontier = { lane: 'claude', tier: 'frontier', model: 'opus' };

describe('what attempts cost', () => {
  test('is the configuration’s word until ten were measured, then their mean, and the gate reserves it', async () => {
    const ledgers = costLedgers(redis, log);
    const costs = measuredCosts(redis, config);
    const gate = openGate(redis, config, costs.of);
    await gate.read(reading(Date.now(), 10));
    let used = 10;
    for (let n = 1; n <= 10; n++) {
      const at = n * 1_000_000;
      ledgers.reading(reading(at, used));
      ledgers.began('claude', `d.${n}`, { ...frontier, from: at + 1 });
      ledgers.ended('claude', `d.${n}`, { ...frontier, from: at + 1, to: at + 500 });
      used += 2;
      ledgers.reading(reading(at + 1000, used));
      await ledgers.written();
      await costs.refresh();
      if (n < 10) expect(costs.of(lane, 'frontier')).toMatchObject({ five_hour: 1000, 'weekly:opus': 200 });
    }
    expect(costs.of(lane, 'frontier')).toEqual({
      five_hour: 2000,
      weekly: 200,
      monthly: 200,
      other: 1000,
      'weekly:opus': 500,
    });
    expect(costs.of(lane, 'fast')).toMatchObject({ five_hour: 1000, 'weekly:opus': 0 });
    expect(costs.rows('claude').filter(({ tier }) => tier !== 'balanced')).toEqual([
      { lane: 'claude', tier: 'fast', window: 'five_hour', points: 1, measured: 0 },
      { lane: 'claude', tier: 'frontier', window: 'five_hour', points: 2, measured: 10 },
      { lane: 'claude', tier: 'frontier', window: 'weekly:opus', points: 0.5, measured: 10 },
    ]);
    await gate.reserve('t', lane, 'claude@n', 'n');
    expect((await gate.snapshot('claude')).windows.map(({ id, reserved }) => [id, reserved]).sort()).toEqual([
      ['five_hour', 2],
      ['weekly:opus', 0.5],
    ]);
    expect(warnings).toEqual([]);
  });

  test('is measured once, whatever number of boxes tell of the same runs and readings at the same time', async () => {
    const boxes = Array.from({ length: 6 }, () => costLedgers(server.client(), log));
    const [first] = boxes;
    first?.reading(reading(1, 10));
    await first?.written();
    boxes.forEach((box, i) => box.ended('claude', `d.${i}`, { ...frontier, from: 10, to: 20 }));
    await Promise.all(boxes.map((box) => box.written()));
    boxes.forEach((box) => box.reading(reading(30, 16)));
    await Promise.all(boxes.map((box) => box.written()));
    const samples = await redis.lrange('cmo:q:claude:cost:claude/frontier/five_hour', 0, -1);
    expect(samples.map(Number)).toEqual(Array(6).fill(1));
    expect(warnings).toEqual([]);
  });

  test('begins anew on a ledger that cannot be read', async () => {
    await redis.hset('cmo:q:claude:cost', { version: '4', text: '{"win' });
    const ledgers = costLedgers(redis, log);
    ledgers.reading(reading(1, 10));
    await ledgers.written();
    expect(JSON.parse((await redis.hget('cmo:q:claude:cost', 'text')) ?? '')).toMatchObject({
      windows: { five_hour: { usedPercent: 10 } },
    });
  });
});
