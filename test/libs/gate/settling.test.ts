import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Config, DispatchRecord, MeterReading, MeterWindow } from '#contract';
import { keys } from '#store';
import { auditGate } from '../../support/audit.js';
import { laneOf, testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { sleep } from '../../support/wait-until.js';
import { openDesk, type Desk } from '../queue/desk.js';

let server: TestRedis;
let redis: Redis;
let config: Config;
let desk: Desk;
const desks: Desk[] = [];
const use = (changed: Config): void => {
  config = changed;
  desk = openDesk(redis, changed);
  desks.push(desk);
};
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
  use(testConfig());
});
afterEach(async () => {
  expect((await auditGate(redis, 'codex')).problems).toEqual([]);
  await Promise.all(desks.splice(0).map((one) => one.close()));
});

const HOUR = 3_600_000;
const five = (usedPercent: number, resetsAt: number | null = Date.now() + HOUR): MeterWindow => ({
  id: 'five_hour',
  kind: 'five_hour',
  usedPercent,
  resetsAt,
  scope: null,
});
const week = (usedPercent: number, change: Partial<MeterWindow> = {}): MeterWindow => ({
  id: 'weekly',
  kind: 'weekly',
  usedPercent,
  resetsAt: Date.now() + 24 * HOUR,
  scope: null,
  ...change,
});
const read = (windows: MeterWindow[], change: Partial<MeterReading> = {}, partial = false) =>
  desk.gate.read(
    { account: 'codex', windows, source: 'test', writtenAt: Date.now(), readAt: Date.now(), plan: null, ...change },
    partial,
  );
const runs = async (): Promise<DispatchRecord> => desk.run(await desk.submit());
/** A run that has ended; answers when, by Redis' clock. */
const ended = async (): Promise<number> => {
  const record = await runs();
  await desk.deliver(record, { success: true });
  return Number((await desk.gate.snapshot('codex')).lastEnd);
};
const pictureOf = async (window: string) => (await desk.gate.snapshot('codex')).windows.find(({ id }) => id === window);

describe('the points of a run that ended', () => {
  test('stay until a reading written strictly after its end', async () => {
    await read([five(10)]);
    await sleep(2);
    const at = await ended();
    expect(await read([five(10)], { writtenAt: at })).toBe(true);
    expect(await pictureOf('five_hour')).toMatchObject({ settling: 1, effective: 11 });
    expect(await read([five(11)], { writtenAt: at + 1 })).toBe(true);
    expect(await pictureOf('five_hour')).toMatchObject({ settling: 0, effective: 11 });
    expect((await auditGate(redis, 'codex')).ids).toEqual([]);
  });

  test('hold back the next start, as those of a running one do', async () => {
    await read([five(93.5)]);
    await ended();
    await expect(desk.reserve('t')).rejects.toThrow('limit');
  });

  test('are called estimated past the ceiling, count on, and go with the next reading', async () => {
    use(testConfig({ timing: { settleCeilingMs: 30 } }));
    await read([five(10)]);
    await ended();
    await sleep(40);
    expect(await pictureOf('five_hour')).toMatchObject({ settling: 0, estimated: 1, effective: 11 });
    await read([five(11)]);
    expect(await pictureOf('five_hour')).toMatchObject({ estimated: 0, effective: 11 });
  });

  test('are kept after its lease lapsed too, because what it spent is not known', async () => {
    await read([five(10)]);
    const record = await desk.submit();
    await desk.reserve('t');
    await desk.start(record, 't', { ttlMs: 20 });
    await sleep(40);
    expect(await pictureOf('five_hour')).toMatchObject({ reserved: 0, settling: 1, effective: 11 });
    expect((await desk.gate.snapshot('codex')).inFlight).toBe(0);
    await read([five(11)]);
    expect(await pictureOf('five_hour')).toMatchObject({ settling: 0, effective: 11 });
  });

  test('go with the reset of their window', async () => {
    const reset = Date.now() + 200;
    await read([five(94, reset)]);
    await ended();
    await expect(desk.reserve('t')).rejects.toThrow('limit');
    await sleep(Math.max(reset - Date.now(), 0) + 20);
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 0, settling: 0, effective: 0, resetsAt: null });
  });

  test('stay over a reset that came before the end: they were spent in the new window', async () => {
    const reset = Date.now() + 100;
    await read([five(50, reset)]);
    const record = await runs();
    await sleep(Math.max(reset - Date.now(), 0) + 20);
    // Nobody has looked at the gate between the reset and this end.
    await desk.deliver(record, { success: true });
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 0, settling: 1, effective: 1 });
    // Nor does a reading take them off that was written before the reset and comes late.
    await read([five(51, reset)], { writtenAt: reset - 1 });
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 0, settling: 1, effective: 1 });
  });

  test('of a run in flight stay over a reset', async () => {
    const reset = Date.now() + 100;
    await read([five(50, reset)]);
    await runs();
    await sleep(Math.max(reset - Date.now(), 0) + 20);
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 0, reserved: 1, effective: 1 });
  });
});

describe('a reading of some of the windows', () => {
  test('ends what settled in those, and keeps the rest of it for the others', async () => {
    await read([five(10), week(20)], { plan: 'plus' });
    await ended();
    await sleep(2);
    await read([five(11)], {}, true);
    expect(await pictureOf('five_hour')).toMatchObject({ settling: 0, effective: 11 });
    expect(await pictureOf('weekly')).toMatchObject({ usedPercent: 20, settling: 0.2, effective: 20.2 });
    expect((await desk.gate.snapshot('codex')).reading).toMatchObject({ plan: 'plus' });
    await sleep(2);
    await read([five(11), week(20.2)]);
    expect((await auditGate(redis, 'codex')).ids).toEqual([]);
  });

  test('leaves nothing behind in windows that nobody reports', async () => {
    await read([five(10)]);
    await ended();
    await sleep(2);
    await read([five(11)], {}, true);
    expect((await auditGate(redis, 'codex')).ids).toEqual([]);
  });
});

describe('a reading', () => {
  test('from a clock that runs ahead is stored with the present time, so later readings still count', async () => {
    expect(await read([five(10)], { writtenAt: Date.now() + HOUR })).toBe(true);
    await sleep(5);
    expect(await read([five(20)])).toBe(true);
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 20 });
  });

  test.each([
    ['without any window', []],
    ['with a percent that is no number', [five(NaN)]],
    ['with a reset that is no time', [five(10, NaN)]],
  ])('%s proves nothing and changes nothing', async (_, windows) => {
    await read([five(10)]);
    await ended();
    await sleep(2);
    expect(await read(windows)).toBe(false);
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 10, settling: 1 });
    await desk.reserve('t');
  });

  test('counts a negative percent as none', async () => {
    await read([five(-50)]);
    expect(await pictureOf('five_hour')).toMatchObject({ usedPercent: 0 });
  });

  test('of a window that binds some models does not stop a lane whose cost does not name it', async () => {
    await read([five(10), week(99, { id: 'weekly:opus', scope: 'opus' })]);
    await desk.reserve('t');
  });
});

describe('of several windows', () => {
  test('the one over its limit outranks the one that is only held back, and the last to open is named', async () => {
    use(testConfig({ holdBack: { slots: 0, points: 1 } }));
    const late = Date.now() + 24 * HOUR;
    const refusedBy = async (windows: MeterWindow[]) => {
      await redis.del(...Object.values(keys.gate('codex')));
      await read(windows);
      return desk.gate.reserve('t', laneOf(config, 'codex'), 'codex@test-node', 'test-node');
    };
    expect(await refusedBy([five(93.5), week(95)])).toMatchObject({ reason: 'limit', window: 'weekly' });
    expect(await refusedBy([five(95), week(94)])).toMatchObject({ reason: 'limit', window: 'five_hour' });
    expect(await refusedBy([five(95), week(95, { resetsAt: late })])).toMatchObject({ window: 'weekly', til: late });
    expect(await refusedBy([five(95, null), week(95, { resetsAt: late })])).toMatchObject({
      window: 'five_hour',
      til: null,
    });
    expect(await refusedBy([five(93.5), week(94, { resetsAt: late })])).toMatchObject({
      reason: 'hold-back',
      window: 'weekly',
      til: late,
    });
  });

  test('one that a run costs nothing in still binds when it is over its limit', async () => {
    const lanes = config.lanes.map((lane) => ({ ...lane, cost: { ...lane.cost, weekly: 0 } }));
    use(testConfig({ lanes }));
    await read([five(10), week(95.1)]);
    await expect(desk.reserve('t')).rejects.toThrow('limit');
    await read([five(10), week(95)]);
    await desk.reserve('t');
  });
});

describe('refused workers learn of room that only the passing of time made', () => {
  const wokenBy = async (act: () => Promise<unknown>): Promise<boolean> => {
    await act();
    return (await redis.hget(keys.gate('codex').flags, 'refused')) === '0';
  };

  test('from any call that sweeps a lapsed token', async () => {
    use(testConfig({ slots: { account: 1, node: 8, dark: 1 }, timing: { tokenLeaseMs: 30 } }));
    await read([five(10)]);
    await desk.reserve('ghost');
    await expect(desk.reserve('t')).rejects.toThrow('slots');
    await sleep(40);
    expect(await wokenBy(() => desk.gate.snapshot('codex'))).toBe(true);
  });

  test('from the first call that sees a reset', async () => {
    const reset = Date.now() + 100;
    await read([five(95, reset)]);
    await expect(desk.reserve('t')).rejects.toThrow('limit');
    await sleep(Math.max(reset - Date.now(), 0) + 10);
    expect(await wokenBy(() => desk.gate.recount('codex'))).toBe(true);
  });
});
