import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openGate, type Gate } from '#gate';
import type { Config, MeterReading } from '#contract';
import { openQueue, openTransitions } from '#queue';
import { keys } from '#store';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { laneOf, testConfig, testRecord } from '../../support/records.js';
import { freePort } from '../../support/secure-redis.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());
beforeEach(async () => {
  await redis.flushall();
});

const codex = (config: Config) => laneOf(config, 'codex');
const reading = (percent: number, change: Partial<MeterReading> = {}): MeterReading => ({
  account: 'codex',
  windows: [
    { id: 'five_hour', kind: 'five_hour', usedPercent: percent, resetsAt: Date.now() + 3_600_000, scope: null },
  ],
  source: 'test',
  writtenAt: Date.now(),
  readAt: Date.now(),
  plan: null,
  ...change,
});
const reserve = (gate: Gate, config: Config, token: string) =>
  gate.reserve(token, codex(config), 'codex@test-node', 'test-node');

async function admitted(gate: Gate, config: Config, tries: number): Promise<number> {
  let yes = 0;
  for (let i = 0; i < tries; i++) if ((await reserve(gate, config, `t${i}`)).ok) yes += 1;
  return yes;
}

describe('the gate admits', () => {
  test('until used + reserved + cost would pass the limit, and says which window refused', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(reading(91.5));
    expect(await admitted(gate, config, 8)).toBe(3);
    expect(await reserve(gate, config, 'late')).toMatchObject({
      ok: false,
      reason: 'limit',
      window: 'five_hour',
      bare: false,
    });
    const snapshot = await gate.snapshot('codex');
    expect(snapshot.windows[0]).toMatchObject({ usedPercent: 91.5, reserved: 3, effective: 94.5 });
  });

  test('the same token twice is one reservation', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(reading(10));
    await reserve(gate, config, 'same');
    await reserve(gate, config, 'same');
    expect((await gate.snapshot('codex')).inFlight).toBe(1);
  });

  test('no more than the account has slots', async () => {
    const config = testConfig({ slots: { account: 5, node: 8, dark: 2 } });
    const gate = openGate(redis, config);
    await gate.read(reading(1));
    expect(await admitted(gate, config, 9)).toBe(5);
    expect(await reserve(gate, config, 'late')).toMatchObject({ ok: false, reason: 'slots' });
  });

  test('no more than the dark bound while there is no reading', async () => {
    const config = testConfig({ slots: { account: 8, node: 8, dark: 2 } });
    const gate = openGate(redis, config);
    expect(await admitted(gate, config, 6)).toBe(2);
    expect(await reserve(gate, config, 'late')).toMatchObject({ ok: false, reason: 'dark' });
  });

  test('no more than the dark bound on a reading older than an hour, once a run of ours has ended since', async () => {
    const config = testConfig({ slots: { account: 8, node: 8, dark: 2 } });
    const gate = openGate(redis, config);
    const hourAgo = Date.now() - 61 * 60_000;
    await gate.read(reading(1, { writtenAt: hourAgo }));
    // Nothing of ours has moved it: it is old, and still what is left.
    expect(await admitted(gate, config, 4)).toBe(4);
    for (let i = 0; i < 4; i++) await gate.giveBack(`t${i}`, 'codex');
    await redis.hset(keys.gate('codex').flags, 'ended', hourAgo + 1);
    expect(await admitted(gate, config, 4)).toBe(2);
    expect(await reserve(gate, config, 'late')).toMatchObject({ ok: false, reason: 'dark' });
    await gate.read(reading(1));
    expect(await admitted(gate, config, 8)).toBe(8);
  });

  test('a lane with slots of its own up to those', async () => {
    const base = testConfig();
    const config = testConfig({ lanes: base.lanes.map((lane) => ({ ...lane, slots: 1 })) });
    const gate = openGate(redis, config);
    await gate.read(reading(1));
    expect(await admitted(gate, config, 3)).toBe(1);
    expect(await reserve(gate, config, 'late')).toMatchObject({ ok: false, reason: 'lane-slots' });
  });

  test('normal work only up to the held-back slot and point, interactive work beyond them', async () => {
    const config = testConfig({ holdBack: { slots: 1, points: 1 }, slots: { account: 3, node: 8, dark: 2 } });
    const gate = openGate(redis, config);
    await gate.read(reading(1));
    expect(await admitted(gate, config, 4)).toBe(2);
    expect(await gate.look(codex(config), { five_hour: 1000 }, 'normal')).toMatchObject({
      ok: false,
      reason: 'hold-back',
    });
    expect(await gate.look(codex(config), { five_hour: 1000 }, 'interactive')).toMatchObject({ ok: true });
  });

  test('normal work to the last slot where there is but one: a hold-back must not stop a batch for good', async () => {
    const config = testConfig({ holdBack: { slots: 2, points: 0 }, slots: { account: 1, node: 8, dark: 2 } });
    const gate = openGate(redis, config);
    await gate.read(reading(1));
    expect(await admitted(gate, config, 2)).toBe(1);
  });

  test('a window whose reset has passed as if it were unused', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(
      reading(99, {
        windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 99, resetsAt: Date.now() + 150, scope: null }],
      }),
    );
    expect(await reserve(gate, config, 'a')).toMatchObject({ ok: false, reason: 'limit', bare: true });
    await sleep(200);
    expect(await reserve(gate, config, 'b')).toMatchObject({ ok: true });
  });
});

describe('a token', () => {
  test('that found nothing to start is given back whole', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(reading(1));
    await reserve(gate, config, 'a');
    await gate.giveBack('a', 'codex');
    expect(await gate.snapshot('codex')).toMatchObject({ inFlight: 0, reservations: [] });
    expect(await gate.recount('codex')).toEqual({});
  });

  test('whose holder died lapses into nothing, for nothing was spent', async () => {
    const config = testConfig({ timing: { tokenLeaseMs: 50 } });
    const gate = openGate(redis, config);
    await gate.read(reading(1));
    await reserve(gate, config, 'a');
    await sleep(80);
    expect(await gate.snapshot('codex')).toMatchObject({ inFlight: 0, reservations: [] });
  });
});

describe('a reading', () => {
  test('older than the known one changes nothing', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(reading(50));
    expect(await gate.read(reading(10, { writtenAt: Date.now() - 60_000 }))).toBe(false);
    expect((await gate.snapshot('codex')).windows[0]?.usedPercent).toBe(50);
  });

  test('gives facts to the policy with its percent and reset', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(reading(50));
    await reserve(gate, config, 'a');
    const facts = await gate.facts(config.lanes, { codex: true, claude: false });
    expect(facts['codex']).toMatchObject({ available: true, installed: true, worstPercent: 51 });
    expect(facts['claude']).toMatchObject({ available: false, installed: false });
  });

  test('that leaves no room with nothing in flight makes the lane hard-blocked for that cost', async () => {
    const config = testConfig();
    const gate = openGate(redis, config);
    await gate.read(reading(94.5));
    const facts = await gate.facts(config.lanes, { codex: true, claude: true });
    expect(facts['codex']).toMatchObject({ hardBlocked: true, blockedBy: 'limit' });
  });
});

test('sums that drifted are corrected from the raw reservations, and the difference is reported', async () => {
  const config = testConfig();
  const gate = openGate(redis, config);
  await gate.read(reading(1));
  await reserve(gate, config, 'a');
  await redis.hincrby('cmo:q:codex:sum', 'inflight', 4);
  expect(await gate.recount('codex')).toEqual({ inflight: 4 });
  expect(await gate.recount('codex')).toEqual({});
  expect(await redis.hget('cmo:q:codex:sum', 'inflight')).toBe('1');
});

test('a Redis that has just restarted admits nothing until live nodes have had time to assert their runs', async () => {
  const config = testConfig({ timing: { restartGraceMs: 2_000 } });
  const own = await startRedis();
  try {
    const client = own.client();
    const gate = openGate(client, config);
    await gate.read(reading(1));
    await own.restart();
    expect(await reserve(gate, config, 'a')).toMatchObject({ ok: false, reason: 'restart' });
    await sleep(3_200);
    expect(await reserve(gate, config, 'b')).toMatchObject({ ok: true });
  } finally {
    await own.close();
  }
});

test('nor does a replica that has just taken over, however long it was up; what the old primary admitted needs a new admission to start', async () => {
  const config = testConfig({ timing: { restartGraceMs: 1_000 } });
  const port = await freePort();
  const primary = await startRedis({ args: ['--port', String(port), '--bind', '127.0.0.1'] });
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(port)] });
  try {
    const [before, after] = [openGate(primary.client(), config), openGate(replica.client(), config)];
    const queue = openQueue({ redis: primary.client(), config });
    const record = testRecord(config);
    await queue.submit([{ record, blobs: { prompt: 'x', schema: null, env: '{}' } }]);
    await queue.close();
    await sleep(2_100);
    await before.read(reading(1));
    expect(await reserve(before, config, 'token')).toMatchObject({ ok: true });
    await primary.client().wait(1, 10_000);
    await primary.kill();
    const client = replica.client();
    await client.replicaof('NO', 'ONE');

    const start = (token: string): Promise<unknown> =>
      openTransitions(client, config).start({ record, node: 'n', nonce: token, token, cost: {}, ttlMs: 60_000 });
    expect(await start('token')).toEqual({ answer: 'lapsed' });
    expect(await reserve(after, config, 'a')).toMatchObject({ ok: false, reason: 'restart' });
    await waitUntil(async () => (await reserve(after, config, 'b')).ok, { what: 'the grace to end' });
    expect(await start('b')).toMatchObject({ answer: 'yes' });
  } finally {
    await replica.close();
    await primary.close();
  }
});

test('a node that has the Redis to itself ends the grace as soon as it says that it has asserted its runs', async () => {
  const config = testConfig({ timing: { restartGraceMs: 60_000 } });
  const own = await startRedis();
  try {
    const gate = openGate(own.client(), config);
    await gate.read(reading(1));
    expect(await reserve(gate, config, 'a')).toMatchObject({ ok: false, reason: 'restart' });
    await gate.asserted();
    expect(await reserve(gate, config, 'b')).toMatchObject({ ok: true });
  } finally {
    await own.close();
  }
});
