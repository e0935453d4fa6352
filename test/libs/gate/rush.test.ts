import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGate } from '#gate';
import { gateKeys } from '#store';
import { auditGate } from '../../support/audit.js';
import { SEED, seeded } from '../../support/seeded.js';
import { testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { waitUntil } from '../../support/wait-until.js';
import { startChild } from '../queue/child.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

const PROCESSES = 8;
const RESERVATIONS = 500;
const LIMIT = 95_000;
const ROOM = 10_000;
const MINUTE = 60_000;
/** The clocks of the boxes, against Redis' own. */
const SKEWS = [5 * MINUTE, -5 * MINUTE, 0, 5 * MINUTE, -5 * MINUTE, 0, 5 * MINUTE, -5 * MINUTE];

type Answers = { answers: { token: string; cost: number; ok: boolean; reason: string }[]; bound: number };

test(`${RESERVATIONS} reservations at once by ${PROCESSES} processes, whose clocks are up to ten minutes apart, take ten points of room and no more; killed, their tokens lapse into nothing and their runs into what a reading has to settle`, async () => {
  const random = seeded(SEED);
  // Slots are not what binds here.
  const config = testConfig({
    slots: { account: 1_000, node: 1_000, dark: 1_000 },
    timing: { tokenLeaseMs: 6_000, settleCeilingMs: 60_000 },
  });
  const gate = openGate(redis, config);
  const read = async (usedPercent: number): Promise<boolean> => {
    const [seconds, micros] = await redis.time();
    const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    return gate.read({
      account: 'codex',
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt: now + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: now,
      readAt: now,
      plan: null,
    });
  };
  await read((LIMIT - ROOM) / 1000);
  const children = await Promise.all(
    SKEWS.map((skew, i) => {
      const share = Math.floor(RESERVATIONS / PROCESSES) + (i < RESERVATIONS % PROCESSES ? 1 : 0);
      const costs = Array.from({ length: share }, () => Math.round(50 + random() * 1_450) / 1000);
      return startChild('rushing-client', [
        server.socket,
        JSON.stringify(config),
        JSON.stringify(costs),
        String(skew),
        `p${i}`,
      ]);
    }),
  );
  await redis.multi(SKEWS.map((_, i) => ['rpush', `go:p${i}`, '1'])).exec();

  let audits = 0;
  const answered = await waitUntil(
    async () => {
      const { problems, effective } = await auditGate(redis, 'codex', { limit: LIMIT });
      expect({ problems, over: Math.max(effective - LIMIT, 0) }).toEqual({ problems: [], over: 0 });
      audits += 1;
      const all = await redis.hgetall('answers');
      return Object.keys(all).length === PROCESSES ? Object.values(all) : null;
    },
    { what: 'all to be answered', everyMs: 5 },
  );
  const told = answered.map((one) => JSON.parse(one) as Answers);
  const answers = told.flatMap((one) => one.answers);
  expect(answers).toHaveLength(RESERVATIONS);
  const admitted = answers.filter(({ ok }) => ok).reduce((sum, { cost }) => sum + cost, 0);
  const left = ROOM - admitted;
  expect(left, `seed ${SEED}: admitted ${admitted}`).toBeGreaterThanOrEqual(0);
  // Nothing that would fit was refused, and no lease was taken for lapsed by a box whose clock is ahead.
  for (const { ok, reason, cost } of answers) if (!ok) expect([reason, cost > left]).toEqual(['limit', true]);
  const bound = told.reduce((sum, one) => sum + one.bound, 0);
  expect(bound).toBeGreaterThan(0);
  const held = await auditGate(redis, 'codex', { limit: LIMIT });
  expect(held.problems).toEqual([]);
  expect(held.effective).toBe(LIMIT - left);
  expect(audits).toBeGreaterThan(0);

  await Promise.all(children.map((child) => child.kill()));
  await waitUntil(async () => (await gate.snapshot('codex')).inFlight === 0, {
    what: 'the leases of the killed to lapse',
    timeoutMs: 20_000,
  });
  expect((await gate.snapshot('codex')).windows[0]).toMatchObject({
    reserved: 0,
    settling: bound / 1000,
    effective: (LIMIT - ROOM + bound) / 1000,
  });
  await read(86);
  expect((await gate.snapshot('codex')).windows[0]).toMatchObject({ settling: 0, effective: 86 });
  expect(await redis.hgetall(gateKeys('codex')[1])).toEqual({});
  expect((await auditGate(redis, 'codex')).problems).toEqual([]);
});
