import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGate, type Gate } from '#gate';
import type { MeterWindow } from '#contract';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import { startChild } from '../queue/child.js';

const PROCESSES = 4;
const CLIENTS = 8;
/** It is watched at least this often, over at least this many of the vendor's windows. */
const AUDITS = 400;
const WINDOWS = 3;
/** The vendor's number is this old when it reaches us. */
const LAG_MS = 150;
const WINDOW_MS = 1_500;
const SLOTS = 12;

// A limit so low that it is met in every window, however slow the box.
const config = testConfig({ pressure: { tight: 20, critical: 30, exhausted: 40 }, slots: { account: SLOTS, node: 100, dark: SLOTS }, timing: { tokenLeaseMs: 300, settleCeilingMs: 500 } });
const limit = config.pressure.exhausted * 1000;
let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

/** The vendor, who bills each run at its end and whose five-hour window begins anew every WINDOW_MS. */
class Vendor {
  readonly #began = Date.now();

  async windows(at: number): Promise<MeterWindow[]> {
    const start = this.#began + Math.floor((at - this.#began) / WINDOW_MS) * WINDOW_MS;
    const bills = await redis.zrangebyscore('bills', '-inf', `(${at}`, 'WITHSCORES');
    let [five, week] = [0, 10_000];
    for (let i = 0; i < bills.length; i += 2) {
      const { bill } = JSON.parse(bills[i] ?? '') as { bill: Record<string, number> };
      if (Number(bills[i + 1]) >= start) five += bill['five_hour'] ?? 0;
      week += bill['weekly'] ?? 0;
    }
    return [
      { id: 'five_hour', kind: 'five_hour', usedPercent: five / 1000, resetsAt: start + WINDOW_MS, scope: null },
      { id: 'weekly', kind: 'weekly', usedPercent: week / 1000, resetsAt: null, scope: null },
    ];
  }

  async read(gate: Gate): Promise<number> {
    const at = Date.now() - LAG_MS;
    const windows = await this.windows(at);
    await gate.read({ account: 'codex', windows, source: 'test', writtenAt: at, readAt: Date.now(), plan: null });
    return Math.max(...windows.map(({ usedPercent }) => usedPercent)) * 1000;
  }
}

test('many clients with random costs, crashes and a meter that lags never pass a limit or a slot, and leave nothing', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const gate = openGate(redis, config);
  const vendor = new Vendor();
  await vendor.read(gate);
  const args = (i: number): string[] => [server.socket, JSON.stringify(config), String(seed + i), String(CLIENTS)];
  const children = await Promise.all(Array.from({ length: PROCESSES }, (_, i) => startChild('random-client', args(i))));

  const began = Date.now();
  const audits: { problems: string[]; inFlight: number; effective: number }[] = [];
  let highest = 0;
  let nextReading = 0;
  while (audits.length < AUDITS || Date.now() < began + WINDOWS * WINDOW_MS) {
    audits.push(await auditGate(redis, 'codex', { limit, slots: SLOTS, records: true }));
    if (Date.now() < nextReading) continue;
    nextReading = Date.now() + 60;
    highest = Math.max(highest, await vendor.read(gate));
  }
  await redis.set('stop', '1');
  expect(await Promise.all(children.map(({ left }) => left))).toEqual(children.map(() => 0));

  expect({ seed, problems: audits.flatMap(({ problems }) => problems).slice(0, 5) }).toEqual({ seed, problems: [] });
  // Without these the run would have shown nothing: both bounds were met, and crashes happened.
  const stats = await redis.hgetall('stats');
  const most = (what: 'inFlight' | 'effective'): number => Math.max(...audits.map((audit) => audit[what]));
  expect(most('inFlight')).toBe(SLOTS);
  expect(most('effective')).toBeGreaterThan(limit - 3_000);
  expect(Number(stats['slots'])).toBeGreaterThan(0);
  expect(Number(stats['limit'])).toBeGreaterThan(0);
  expect(Number(stats['crashed before the bind']) + Number(stats['crashed while it ran'])).toBeGreaterThan(0);
  expect(highest).toBeLessThanOrEqual(limit);
  expect(await auditIndexes(redis)).toEqual([]);

  await waitUntil(async () => (await gate.snapshot('codex')).inFlight === 0, { what: 'the leases of the crashed to lapse' });
  await sleep(LAG_MS + 50);
  await vendor.read(gate);
  expect(await auditGate(redis, 'codex')).toMatchObject({ problems: [], inFlight: 0, ids: [] });
  expect(await gate.recount('codex')).toEqual({});
});
