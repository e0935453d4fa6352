import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLASSES, TIERS, type DispatchRecord, type State } from '#contract';
import { openControls } from '#gate';
import { keys } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { laneOf, newId, testConfig, testRecord } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { sleep } from '../../support/wait-until.js';
import { failed, openDesk, rerouted, retrying, succeeded, type Desk } from './desk.js';

// Leases so short that tokens and runs lapse in the middle of a walk.
const config = testConfig({
  timing: { tokenLeaseMs: 30, settleCeilingMs: 40, refusalMs: [5, 10] },
  slots: { account: 4, node: 8, dark: 3 },
});
const lanes = config.lanes.map(({ id }) => id);
let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

const OPERATIONS = [
  'submit',
  'submit',
  'submit',
  'run',
  'run',
  'run',
  'run',
  'reserve',
  'start',
  'deliver',
  'deliver',
  'deliver',
  'cancel',
  'change',
  'unstart',
  'assert',
  'renew',
  'give-back',
  'meter',
  'recount',
  'rest',
  'again',
  'once',
  'retry',
  'pause',
  'slots',
] as const;
/** One step: what, on which of the candidates, and in which variant. */
const step = fc.record({ what: fc.constantFrom(...OPERATIONS), pick: fc.nat(1000), how: fc.nat(1000) });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Walk {
  readonly #desk: Desk;
  readonly #ids: string[] = [];
  readonly #tokens: { token: string; lane: string }[] = [];
  readonly #paused = new Set<string>();
  /** The first dispatch of each `once` key. */
  readonly #first = new Map<string, string>();
  /** The last call, to be sent again as ioredis does when an answer was lost. */
  #last: () => Promise<unknown> = () => Promise.resolve();
  /** A run was put back that no admission asked for; its earlier attempt may fly beside it. */
  asserted = false;
  /** A run whose lease had lapsed got its reservation again, asking nobody. */
  overbooked = false;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async take({ what, pick, how }: Step): Promise<void> {
    const desk = this.#desk;
    const lane = laneOf(config, lanes[pick % lanes.length] ?? 'codex');
    switch (what) {
      case 'submit': {
        const id = newId();
        const batch = how % 3 === 0 ? { batch: `b${pick % 2}` } : {};
        const labels = how % 4 === 0 ? { labels: { wave: String(pick % 2), part: 'x' } } : {};
        const bounds =
          how % 5 === 0
            ? { startBy: Date.now() + 60_000, endBy: Date.now() + 90_000 }
            : how % 5 === 1
              ? { waitUntil: Date.now() + 60_000 }
              : {};
        this.#ids.push(id);
        const request = { id, cwd: '/tmp', hasSchema: false, envNames: [], ...batch, ...labels };
        const tier = TIERS[how % TIERS.length] ?? 'fast';
        await this.#call(() =>
          desk.submit({
            id,
            lane: lane.id,
            class: CLASSES[pick % 3] ?? 'normal',
            project: `p${how % 4}`,
            tier,
            request,
            ...bounds,
          }),
        );
        return;
      }
      case 'once': {
        const id = newId();
        const once = `key-${how % 3}`;
        const record = testRecord(config, {
          id,
          lane: lane.id,
          request: { id, cwd: '/tmp', hasSchema: false, envNames: [], once, batch: 'once' },
        });
        await this.#call(async () => {
          const [got] = await desk.queue.submit([
            { record, blobs: { prompt: 'p', schema: null, env: '{}' }, task: once },
          ]);
          const first = this.#first.get(once) ?? id;
          this.#first.set(once, first);
          expect(got?.id).toBe(first);
        });
        if (this.#first.get(once) === id) this.#ids.push(id);
        return;
      }
      case 'retry': {
        const of = await this.#record(pick, ['succeeded', 'failed', 'cancelled', 'deferred']);
        if (!of) return;
        const id = newId();
        this.#ids.push(id);
        const { batch } = of.request;
        await this.#call(() =>
          desk.submit({
            id,
            lane: lane.id,
            request: {
              id,
              cwd: '/tmp',
              hasSchema: false,
              envNames: [],
              retryOf: of.id,
              ...(batch !== undefined && { batch }),
            },
          }),
        );
        return;
      }
      case 'pause': {
        const controls = openControls(redis, config);
        const pause = how % 3 === 0;
        if (pause) this.#paused.add(lane.id);
        else this.#paused.delete(lane.id);
        await this.#call(() => (pause ? controls.pause(lane.id, 'walk', null) : controls.resume(lane.id)));
        return;
      }
      case 'slots':
        await this.#call(() =>
          openControls(redis, config).setSlots('account', lane.account, how % 3 === 0 ? how % 4 : null),
        );
        return;
      case 'reserve': {
        const token = `t${this.#tokens.length}`;
        this.#tokens.push({ token, lane: lane.id });
        const paused = this.#paused.has(lane.id);
        await this.#call(async () => {
          const admitted = await desk.reserve(token, lane.id).then(
            () => true,
            () => false,
          );
          if (paused) expect(admitted).toBe(false);
        });
        return;
      }
      case 'run': {
        const record = await this.#record(pick, ['queued', 'retrying']);
        if (!record?.lane) return;
        await this.take({ what: 'reserve', pick: lanes.indexOf(record.lane), how });
        const held = this.#tokens.at(-1);
        if (held) await this.#call(() => desk.start(record, held.token, { ttlMs: how % 4 === 0 ? 10 : 10_000 }));
        return;
      }
      case 'start': {
        const record = await this.#record(pick, how % 5 === 0 ? null : ['queued', 'retrying']);
        const fits = this.#tokens.filter((one) => one.lane === record?.lane);
        const held = fits[fits.length - 1 - (how % Math.min(fits.length, 3))];
        if (record?.lane && held)
          await this.#call(() => desk.start(record, held.token, { ttlMs: how % 4 === 0 ? 10 : 10_000 }));
        return;
      }
      case 'deliver': {
        const record = await this.#record(pick, how % 5 === 0 ? null : ['running']);
        if (!record) return;
        const next =
          [succeeded, failed, rerouted(record, lane), retrying(record, Date.now() + (how % 40) - 10)][how % 4] ??
          failed;
        const close = how % 7 === 0 ? { til: null, reason: 'usage_limit' } : null;
        await this.#call(() => desk.deliver(record, { next, close, success: next === succeeded }));
        return;
      }
      case 'cancel': {
        const record = await this.#record(pick, null);
        if (record) await this.#call(() => desk.queue.cancel(record.id));
        return;
      }
      case 'change': {
        const record = await this.#record(pick, how % 5 === 0 ? null : ['queued', 'retrying']);
        const next =
          record && how % 3 > 0
            ? rerouted(record, lane)
            : ({ state: 'deferred', event: 'deferred', change: {} } as const);
        if (record) await this.#call(() => desk.transitions.change(record, next));
        return;
      }
      case 'unstart': {
        const record = await this.#record(pick, ['running']);
        if (record) await this.#call(() => desk.transitions.unstart(record, record.attempt, config.nodeId));
        return;
      }
      case 'assert': {
        const record = await this.#record(pick, null);
        if (!record?.lane || how % 4 > 0) return;
        this.asserted = true;
        const { id, attempt, cost } = record;
        await this.#call(() =>
          desk.transitions.assertRun({
            id,
            attempt: attempt + (how % 2),
            node: config.nodeId,
            lane: lane.id,
            account: lane.account,
            tier: 'fast',
            cost,
            home: config.nodeId,
            ttlMs: 10_000,
          }),
        );
        return;
      }
      case 'renew': {
        const record = await this.#record(pick, how % 3 === 0 ? null : ['running']);
        if (!record?.lane) return;
        const run = {
          dispatch: record.id,
          attempt: record.attempt,
          lane: laneOf(config, record.lane),
          node: config.nodeId,
          class: record.class,
          project: record.project,
          cost: record.cost,
          ttlMs: 10_000,
        };
        await this.#call(async () => {
          if ((await desk.gate.renew(run)) === 'made') this.overbooked = true;
        });
        return;
      }
      case 'give-back': {
        const held = this.#tokens[this.#tokens.length - 1 - (pick % Math.max(this.#tokens.length, 1))];
        if (held) await this.#call(() => desk.gate.giveBack(held.token, held.lane));
        return;
      }
      case 'meter':
        await this.#call(() => desk.meter(how % 90, Date.now() - (pick % 30), lane.id));
        return;
      case 'recount':
        expect(await desk.gate.recount(lane.account)).toEqual({});
        return;
      case 'rest':
        await sleep(how % 25);
        return;
      case 'again':
        await this.#last();
        return;
    }
  }

  /** Everything ends, everything is billed. */
  async end(): Promise<void> {
    for (const id of this.#ids) {
      await this.#desk.queue.cancel(id);
      const record = await this.#desk.read(id);
      if (record.state === 'running') await this.#desk.deliver(record, { success: true, node: record.node ?? '' });
    }
    for (const { token, lane } of this.#tokens) await this.#desk.gate.giveBack(token, lane);
  }

  async #call(what: () => Promise<unknown>): Promise<void> {
    this.#last = what;
    await what();
  }

  async #record(pick: number, states: State[] | null): Promise<DispatchRecord | null> {
    const all = await Promise.all(this.#ids.map((id) => this.#desk.read(id)));
    const fit = all.filter(({ state }) => states === null || states.includes(state));
    return fit[pick % Math.max(fit.length, 1)] ?? null;
  }
}

describe('after any walk through the operations', () => {
  test('every index agrees with the records and every sum with the reservations, and in the end nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 90 }), async (steps) => {
        await redis.flushall();
        const desk = openDesk(redis, config);
        try {
          const walk = new Walk(desk);
          for (const lane of lanes) await desk.meter(10, Date.now() - 1_000, lane);
          for (const one of steps) {
            await walk.take(one);
            expect(await auditIndexes(redis)).toEqual([]);
            for (const lane of lanes) {
              const bounds = {
                ...(!walk.asserted && { records: true }),
                ...(!walk.asserted && !walk.overbooked && { slots: config.slots.account }),
              };
              expect((await auditGate(redis, lane, bounds)).problems).toEqual([]);
            }
          }
          await walk.end();
          expect(await auditIndexes(redis)).toEqual([]);
          for (const lane of lanes) {
            const { ids, problems } = await auditGate(redis, lane);
            expect(problems).toEqual([]);
            const flying = (await desk.gate.snapshot(lane)).reservations.filter(
              ({ state }) => state === 'token' || state === 'bound',
            );
            if (!walk.asserted) expect(flying).toEqual([]);
            if (!walk.asserted && ids.length > 0) {
              await sleep(2);
              await desk.meter(10, Date.now(), lane);
              expect((await auditGate(redis, lane)).ids).toEqual([]);
            }
          }
        } finally {
          await desk.close();
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('the auditors find', () => {
  const planted = async (spoil: (record: DispatchRecord) => Promise<unknown>): Promise<string[]> => {
    await redis.flushall();
    const desk = openDesk(redis, config);
    await desk.meter(10);
    await desk.submit();
    const record = await desk.run(await desk.submit());
    expect([...(await auditIndexes(redis)), ...(await auditGate(redis, 'codex', { records: true })).problems]).toEqual(
      [],
    );
    await spoil(record);
    await desk.close();
    return [
      ...(await auditIndexes(redis)),
      ...(await auditGate(redis, 'codex', { records: true, limit: 95_000 })).problems,
    ];
  };

  test.each<[string, (record: DispatchRecord) => Promise<unknown>]>([
    ['a state that its index does not know', ({ id }) => redis.hset(keys.record(id), 'state', 'failed')],
    ['an id left in an index', () => redis.zadd(keys.due, 1, 'd-x')],
    ['a count of waiting work that is off', () => redis.hincrby(keys.waiting('codex@test-node'), 'tier:balanced', -1)],
    ['a census that is off', () => redis.hincrby(keys.census('b'), 'n:queued', 1)],
    ['a label left', () => redis.zadd(keys.label('wave=2'), 1, 'd-x')],
    ['an end left', () => redis.zadd(keys.ends, 1, 'd-x')],
    ['a line owed for what runs', ({ id }) => redis.zadd(keys.owed, 1, id)],
    ['a run set that lacks one', ({ id }) => redis.srem(keys.running('test-node'), id)],
    ['a sum that is off', () => redis.hincrby(keys.gate('codex').sums, 'w:five_hour', 1)],
    ['a slot too many', () => redis.hincrby(keys.gate('codex').sums, 'inflight', -1)],
    ['a reservation without a lease', ({ id }) => redis.zrem(keys.gate('codex').leases, `${id}.1`)],
    ['a reservation whose record does not run', ({ id }) => redis.hset(keys.record(id), 'attempt', '2')],
    ['a canary that is a ghost', () => redis.hset(keys.gate('codex').closed, 'holder', 'nobody')],
    [
      'a window over its limit',
      () =>
        redis.hset(
          keys.gate('codex').meter,
          'windows',
          JSON.stringify({ five_hour: { used: 94_500, kind: 'five_hour' } }),
        ),
    ],
  ])('%s', async (_, spoil) => {
    expect(await planted(spoil)).not.toEqual([]);
  });
});
