import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ticketId, type Config, type DispatchRecord } from '#contract';
import { gatedBackend } from '#queue';
import { keys, queueName } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { openDesk, retrying, type Desk } from './desk.js';
import { overhear, sleep, soon, type Overheard } from './overhear.js';
import { openStation, type Station, type StationOptions } from './station.js';

/**
 * What the gated backend leans on in BullMQ, held to the installed version: when BullMQ is raised, a red test here says
 * what changed. With this fallback nothing can start by it: whatever starts was woken.
 */
const NEVER = 600_000;
const root = new URL('../../../', import.meta.url);
let server: TestRedis;
let redis: Redis;
let desk: Desk;
let commands: Overheard;
const stations: Station[] = [];
const station = async (options: Partial<StationOptions> = {}): Promise<Station> => {
  const made = await openStation(server.client(), { config: woken(), ...options });
  stations.push(made);
  return made;
};
const woken = (change: Parameters<typeof testConfig>[0] = {}): Config =>
  testConfig({ ...change, timing: { wakeFallbackMs: NEVER, ...change.timing } });

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  commands = await overhear(redis);
});
afterAll(async () => {
  commands.close();
  await server.close();
});
beforeEach(async () => {
  await redis.flushall();
  desk = openDesk(redis, testConfig());
  await desk.meter(10);
  await desk.meter(10, Date.now(), 'claude');
});
afterEach(async () => {
  await Promise.all(stations.splice(0).map((one) => one.close()));
  await desk.close();
  expect(await auditIndexes(redis)).toEqual([]);
  expect((await auditGate(redis, 'codex', { records: true })).problems).toEqual([]);
});

const queue = queueName('codex', 'test-node');
const bull = (what: string): string => `${keys.bull}:${queue}:${what}`;
/** Shuts and opens the account without telling anybody. */
const shut = (lane = 'codex') => redis.hset(keys.control, `pause:${lane}`, '{"reason":"a test","since":0}');
const openSilently = (lane = 'codex') => redis.hdel(keys.control, `pause:${lane}`);
const wake = () => redis.publish(keys.channels.wake, 'codex');
const submit = async (n: number): Promise<DispatchRecord[]> => {
  const made: DispatchRecord[] = [];
  for (let i = 0; i < n; i++) made.push(await desk.submit());
  return made;
};
const attempts = (records: DispatchRecord[]): string[] => records.map(({ id, attempt }) => `${id}.${attempt}`);
const whereIs = async ({ id, attempt }: DispatchRecord): Promise<string> => {
  const ticket = ticketId(id, attempt);
  if ((await redis.zscore(bull('prioritized'), ticket)) !== null) return 'prioritized';
  if ((await redis.zscore(bull('delayed'), ticket)) !== null) return 'delayed';
  if ((await redis.lrange(bull('wait'), 0, -1)).includes(ticket)) return 'wait';
  if ((await redis.lrange(bull('active'), 0, -1)).includes(ticket)) return 'active';
  return (await redis.exists(bull(ticket))) === 1 ? 'kept' : 'nowhere';
};

test('BullMQ is the version that these tests were written for', () => {
  const version = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
  expect(version('node_modules/bullmq/package.json')).toMatchObject({ version: '6.7.0' });
  expect(version('package.json')).toMatchObject({ dependencies: { bullmq: '6.7.0' } });
});

describe('while the gate is shut', () => {
  test('nothing is fetched, and each lane asks once per fallback period and sends nothing else', async () => {
    const config = testConfig({ timing: { wakeFallbackMs: 150 } });
    await Promise.all([shut('codex'), shut('claude')]);
    await submit(5);
    for (let i = 0; i < 5; i++) await desk.submit({ lane: 'claude' });
    const both = [await station({ config }), await station({ config, lane: 'claude' })];
    await soon(() => both.every(({ refusals }) => refusals.length > 0), 'both to be refused');
    await commands.clear();
    const from = performance.now();
    await sleep(1_000);
    await commands.settle();
    const periods = Math.ceil((performance.now() - from) / 150) + 1;
    expect(commands.fetches()).toBe(0);
    expect(commands.others()).toEqual([]);
    for (const lane of ['codex', 'claude']) {
      expect(commands.reserves(lane)).toBeGreaterThan(0);
      expect(commands.reserves(lane)).toBeLessThanOrEqual(periods);
    }
    expect(both.flatMap(({ started }) => started)).toEqual([]);
  });

  test('new tickets do not make a refused worker ask', async () => {
    await shut();
    const one = await station();
    await soon(() => one.refusals.length > 0, 'a refusal');
    await commands.clear();
    await submit(3);
    await sleep(200);
    await commands.settle();
    expect([commands.fetches(), commands.reserves('codex')]).toEqual([0, 0]);
  });

  test('a full node sends nothing, and its own end of a run wakes it', async () => {
    const one = await station({
      config: woken({ slots: { account: 8, node: 1, dark: 8 } }),
      fetched: () => new Promise(() => {}),
    });
    // A place is taken by a ticket that is being opened, so that the next one finds the node full.
    const [first] = await submit(1);
    await soon(async () => first !== undefined && (await whereIs(first)) === 'active', 'the first to be opened');
    await commands.clear();
    await submit(2);
    await sleep(200);
    await commands.settle();
    expect([commands.fetches(), commands.reserves('codex')]).toEqual([0, 0]);
    one.slots.giveBack();
    await soon(() => commands.reserves('codex') > 0, 'it to ask again');
    stations.pop();
    await one.worker.close(true);
    await one.wakes.close();
  });

  test('a close does not wait for the sleep to end, and nothing is fetched after it', async () => {
    await shut();
    await submit(3);
    const one = await station();
    await soon(() => one.refusals.length > 0, 'a refusal');
    await one.worker.close();
    await openSilently();
    await commands.clear();
    await wake();
    await sleep(200);
    await commands.settle();
    expect([commands.fetches(), commands.reserves('codex')]).toEqual([0, 0]);
    expect(one.started).toEqual([]);
  });
});

test('a close that comes between the admission and the fetch fetches nothing and gives the place back', async () => {
  let admitted = (): void => {};
  const asked = new Promise<void>((resolve) => (admitted = resolve));
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const [record] = await submit(1);
  const one = await station({
    door: (inner) => ({
      ...inner,
      async admit(token) {
        const answer = await inner.admit(token);
        admitted();
        await held;
        return answer;
      },
    }),
  });
  await asked;
  await commands.clear();
  const closed = one.worker.close();
  goOn();
  await closed;
  await commands.settle();
  expect(commands.fetches()).toBe(0);
  expect(record && (await whereIs(record))).toBe('prioritized');
  expect((await auditGate(redis, 'codex')).ids).toEqual([]);
});

describe('a close while Redis is away', () => {
  // The connection that BullMQ blocks on is then between two tries
  // to reconnect, and so it is for a moment after every restart.
  const closes = async (prepare: (one: Station, there: Desk, client: Redis) => Promise<unknown>): Promise<void> => {
    const own = await startRedis();
    try {
      const client = own.client();
      const there = openDesk(client, testConfig());
      await there.meter(10);
      const one = await openStation(client, { config: woken() });
      await prepare(one, there, client);
      await own.kill();
      await soon(() => client.status === 'reconnecting', 'the connection to be lost');
      await one.close();
      client.disconnect();
    } finally {
      await own.close();
    }
  };

  test('comes to its end when it was refused', () =>
    closes(async (one, there, client) => {
      await client.hset(keys.control, 'pause:codex', '{"reason":"a test","since":0}');
      await there.submit();
      await soon(() => one.refusals.length > 0, 'a refusal');
    }));

  test('comes to its end when it waited for tickets', () =>
    closes(async (one, there) => {
      const record = await there.submit();
      await soon(() => one.started.length === 1, 'it to start');
      await soon(async () => !(await there.tickets.exists(record)), 'its ticket to be gone');
    }));

  test('comes to its end when it has just been asking for a place', () =>
    closes(async (one, there, client) => {
      await client.hset(keys.control, 'pause:codex', '{"reason":"a test","since":0}');
      await there.submit();
      await soon(() => one.refusals.length > 0, 'a refusal');
      // It wakes when it is away, and what it asks then gets no answer.
      client.once('close', () => one.wakes.local());
    }));
});

describe('an opening', () => {
  test('that is announced starts what waits, in order, without the fallback', async () => {
    await shut();
    const records = await submit(5);
    const one = await station();
    await soon(() => one.refusals.length > 0, 'a refusal');
    await openSilently();
    await desk.meter(11);
    await soon(() => one.started.length === 5, 'all to start');
    expect(one.started).toEqual(attempts(records));
  });

  test('that is not told is found by the fallback', async () => {
    await shut();
    const records = await submit(2);
    const one = await station({ config: testConfig({ timing: { wakeFallbackMs: 100 } }) });
    await soon(() => one.refusals.length > 0, 'a refusal');
    await openSilently();
    await soon(() => one.started.length === 2, 'both to start');
    expect(one.started).toEqual(attempts(records));
  });

  test('between a refusal and the sleep is not slept through', async () => {
    await shut();
    const records = await submit(1);
    let first = true;
    const one = await station({
      door: (inner, wakes) => ({
        ...inner,
        async admit(token) {
          const answer = await inner.admit(token);
          if (answer.ok || !first) return answer;
          first = false;
          const number = wakes.number('codex');
          await openSilently();
          await wake();
          await soon(() => wakes.number('codex') !== number, 'the message');
          return answer;
        },
      }),
    });
    await soon(() => one.started.length === 1, 'it to start');
    expect(one.started).toEqual(attempts(records));
  });

  test('while Redis was away is found when it is back', async () => {
    const own = await startRedis();
    try {
      const client = own.client();
      const there = openDesk(client, testConfig());
      await there.meter(10);
      await client.hset(keys.control, 'pause:codex', '{"reason":"a test","since":0}');
      const record = await there.submit();
      const one = await openStation(client, { config: woken() });
      await soon(() => one.refusals.length > 0, 'a refusal');
      await client.hdel(keys.control, 'pause:codex');
      await sleep(1_100);
      await own.restart();
      await soon(() => one.started.length === 1, 'it to start');
      expect(one.started).toEqual(attempts([record]));
      await one.close();
      await there.close();
    } finally {
      await own.close();
    }
  });
});

describe('the end of a ticket', () => {
  test('fetches no other one: each fetch has an admission of its own', async () => {
    const records = await submit(3);
    const one = await station({ config: woken({ slots: { account: 1, node: 8, dark: 1 } }) });
    await soon(
      () => one.started.length === 1 && one.refusals.length > 0,
      'the first to start and the next to be refused',
    );
    await soon(
      async () => records[0] !== undefined && (await whereIs(records[0])) === 'nowhere',
      'the first ticket to be gone',
    );
    expect(await Promise.all(records.slice(1).map(whereIs))).toEqual(['prioritized', 'prioritized']);
    for (const [i, record] of records.slice(0, 2).entries()) {
      await desk.deliver(record, { success: true });
      await soon(() => one.started.length === i + 2, 'the next to start');
    }
    expect(one.started).toEqual(attempts(records));
  });

  test('that failed fetches no other one either', async () => {
    const [broken, next] = await submit(2);
    if (!broken || !next) throw new Error('nothing was submitted');
    const fetched: string[] = [];
    const one = await station({
      config: woken({ slots: { account: 1, node: 8, dark: 1 } }),
      fetched: async (id, refusals) => {
        fetched.push(id);
        await soon(() => refusals.length > 0, 'the next to be refused');
        throw new Error('a ticket that can not be opened');
      },
    });
    await soon(async () => (await whereIs(broken)) === 'nowhere', 'the first ticket to be gone');
    await sleep(200);
    expect(fetched).toEqual([broken.id]);
    expect(await whereIs(next)).toBe('prioritized');
    expect(one.started).toEqual([]);
  });

  test('keeps nothing of it: the same ticket can be added again', async () => {
    const [record] = await submit(1);
    const one = await station();
    await soon(() => one.started.length === 1, 'it to start');
    if (!record) throw new Error('nothing was submitted');
    await soon(async () => (await whereIs(record)) === 'nowhere', 'the ticket to be gone');
    await desk.transitions.unstart(await desk.read(record.id), 1, 'test-node');
    await desk.tickets.add([await desk.read(record.id)]);
    await soon(() => one.started.length === 2, 'it to start again');
    expect(await redis.keys(bull('completed'))).toEqual([]);
    expect(await redis.keys(bull('failed'))).toEqual([]);
  });

  test('that was stale gives the place back, so that the next one starts', async () => {
    const [stale, next] = await submit(2);
    if (!stale || !next) throw new Error('nothing was submitted');
    await desk.queue.cancel(stale.id);
    const one = await station({ config: woken({ slots: { account: 1, node: 1, dark: 1 } }) });
    await soon(() => one.started.length === 1, 'the next to start');
    expect(one.started).toEqual(attempts([next]));
    expect(await whereIs(stale)).toBe('nowhere');
  });

  test('whose token lapsed puts it back into the line, and it starts with a new one', async () => {
    const config = woken({ timing: { tokenLeaseMs: 50 } });
    const [record] = await submit(1);
    let slow = true;
    const one = await station({
      config,
      async fetched() {
        if (!slow) return;
        slow = false;
        await sleep(100);
        await desk.gate.recount('codex');
      },
    });
    await soon(() => one.started.length === 1, 'it to start');
    expect(one.started).toEqual(attempts(record ? [record] : []));
    await soon(async () => record !== undefined && (await whereIs(record)) === 'nowhere', 'its ticket to be gone');
  });
});

describe('a delayed ticket', () => {
  const retried = async (inMs: number): Promise<DispatchRecord> => {
    const record = await desk.run(await desk.submit());
    await redis.del(bull(ticketId(record.id, 1)), bull('prioritized'));
    await desk.deliver(record, { next: retrying(record, Date.now() + inMs) });
    const next = await desk.read(record.id);
    await desk.tickets.add([next]);
    return next;
  };

  test('that falls due while the gate is shut stays where it is, and starts with the opening', async () => {
    const record = await retried(100);
    await shut();
    const one = await station();
    await soon(() => one.refusals.length > 0, 'a refusal');
    await sleep(300);
    expect(await whereIs(record)).toBe('delayed');
    await openSilently();
    await wake();
    await soon(() => one.started.length === 1, 'it to start');
    expect(one.started).toEqual(attempts([record]));
  });

  test('that is not due at the opening starts when it is, and not before', async () => {
    const record = await retried(1_200);
    await shut();
    const one = await station();
    await soon(() => one.refusals.length > 0, 'a refusal');
    await openSilently();
    await wake();
    await soon(() => one.started.length === 1, 'it to start');
    const startedAt = Number(await redis.hget(keys.record(record.id), 'attemptStartedAt'));
    expect(startedAt).toBeGreaterThanOrEqual((record.notBefore ?? Infinity) - 5);
  });

  test('lets one that is due now go first', async () => {
    const later = await retried(1_500);
    const now = await desk.submit();
    const one = await station();
    await soon(() => one.started.length === 2, 'both to start');
    expect(one.started).toEqual(attempts([now, later]));
  });
});

test('a bind that lowers the cost wakes a worker that was refused for it', async () => {
  await desk.meter(93.5);
  const records = await submit(2);
  const cost = { five_hour: 500, weekly: 200, monthly: 200, other: 1000 };
  const one = await station({
    cost: () => cost,
    // Bound only when the next fetch has been refused for lack of the points that the first one holds.
    fetched: (id, refusals) =>
      id === records[0]?.id ? soon(() => refusals.includes('limit'), 'a refusal') : Promise.resolve(),
  });
  await soon(() => one.started.length === 2, 'both to start');
  expect(one.started).toEqual(attempts(records));
});

describe('an error', () => {
  test.each<[string, () => never | Promise<never>]>([
    [
      'thrown',
      () => {
        throw new Error('a bug');
      },
    ],
    ['answered', () => Promise.reject(new Error('a bug'))],
  ])(
    'that is %s where a place is asked for does not stop the process, and is over when it is over',
    async (_, fail) => {
      let broken = true;
      let failures = 0;
      const [record] = await submit(1);
      const one = await station({
        door: (inner) => ({
          ...inner,
          admit(token) {
            if (!broken) return inner.admit(token);
            failures += 1;
            return fail();
          },
        }),
      });
      // Were it asked again at once, nothing here would ever get its turn; a thousand times is "without end".
      await sleep(300);
      expect(failures).toBeLessThan(1_000);
      broken = false;
      await soon(() => one.started.length === 1, 'it to start');
      expect(one.started).toEqual(attempts(record ? [record] : []));
    },
  );

  test('of the fetch gives the place back', async () => {
    const config = woken({ slots: { account: 1, node: 1, dark: 1 } });
    await redis.set(bull('wait'), 'not a list');
    const [record] = await submit(1);
    const one = await station({ config });
    await soon(() => commands.fetches() > 0, 'a fetch');
    await redis.del(bull('wait'));
    await soon(() => one.started.length === 1, 'it to start');
    expect(one.started).toEqual(attempts(record ? [record] : []));
  });
});

test('an empty fetch tells when the next delayed ticket is due, in the words of BullMQ', async () => {
  const record = await desk.run(await desk.submit());
  await redis.del(bull(ticketId(record.id, 1)), bull('prioritized'));
  const due = Date.now() + 60_000;
  await desk.deliver(record, { next: retrying(record, due) });
  await desk.tickets.add([await desk.read(record.id)]);
  const given: string[] = [];
  const door = {
    admit: () => Promise.resolve({ ok: true as const }),
    giveBack: (token: string) => Promise.resolve(void given.push(token)),
  };
  const options = { connection: server.client(), prefix: keys.bull };
  const backend = gatedBackend(door)(queue, options, { withBlockingConnection: true });
  await backend.waitUntilReady();
  const [job, , , next] = (await backend.moveToActive('t')) as [unknown, unknown, unknown, number];
  expect(job).toBeFalsy();
  expect(Math.abs(next - due)).toBeLessThan(1_000);
  expect(given).toEqual(['t']);
  await backend.close(true);
});

test('a worker that was paused fetches again when it is resumed', async () => {
  const one = await station();
  await one.worker.pause();
  const [record] = await submit(1);
  await one.worker.resume();
  await soon(() => one.started.length === 1, 'it to start');
  expect(one.started).toEqual(attempts(record ? [record] : []));
});

test('an interactive dispatch starts in the held-back place although the worker sleeps on a refusal', async () => {
  const config = woken({ holdBack: { slots: 1, points: 1 }, slots: { account: 2, node: 8, dark: 8 } });
  const [first] = await submit(2);
  const one = await station({ config });
  await soon(() => one.started.length === 1 && one.refusals.includes('hold-back'), 'the second to be refused');
  const interactive = await desk.submit({ class: 'interactive' });
  await soon(() => one.started.length === 2, 'the interactive one to start');
  expect(one.started).toEqual(attempts(first ? [first, interactive] : []));
});

test('two workers with one place between them start everything, one after the other', async () => {
  const config = woken({ slots: { account: 1, node: 8, dark: 1 } });
  const records = await submit(6);
  const both = [await station({ config }), await station({ config, node: 'node-2' })];
  const started = (): string[] => both.flatMap((one) => one.started);
  for (let n = 1; n <= records.length; n++) {
    await soon(() => started().length === n, `${n} to start`);
    for (const { id } of records) {
      const record = await desk.read(id);
      if (record.state === 'running') await desk.deliver(record, { success: true, node: record.node ?? '' });
    }
  }
  expect(started().sort()).toEqual(attempts(records).sort());
});
