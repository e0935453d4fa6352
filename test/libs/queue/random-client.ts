import { Redis } from 'ioredis';
import type { Config, CostVector, DispatchRecord, LaneConfig } from '#contract';
import { queueName } from '#store';
import { laneOf } from '../../support/records.js';
import { sleep } from '../../support/wait-until.js';
import { bill } from '../gate/lagging-vendor.js';
import { openDesk, type Desk } from './desk.js';

/** Shares of what happens to a reservation; whatever is left of 1 runs, ends and settles. */
export type Mix = {
  /** The client is gone before the bind, or while its run goes on: a lease must lapse. */
  crashAsToken: number;
  crashAsRun: number;
  /** Held for a while as a token, then given back. */
  release: number;
  /** Of those that are held and don't crash: their lease is renewed meanwhile. */
  renew: number;
};

/**
 * Until the key `stop` is set, several clients at once, each on its own connection: reserve, start, hold, renew, end;
 * some crash in the middle and never give anything back. What a run has really
 * spent is written to the bills by the time of its end, for the vendor's meter.
 */
const [socket = '', text = '', seedText = '', clients = '', mixText = ''] = process.argv.slice(2);
const mix = JSON.parse(mixText) as Mix;
const config = JSON.parse(text) as Config;
const queue = queueName('codex', config.nodeId);

let state = Number(seedText);
/** mulberry32: the seed is printed by the test. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const between = (low: number, high: number): number => low + random() * (high - low);

async function client(number: number): Promise<void> {
  const redis = new Redis({ path: socket, maxRetriesPerRequest: null });
  const desk = openDesk(redis, config);
  for (let turn = 0; (await redis.exists('stop')) === 0; turn++) {
    const lane: LaneConfig = {
      ...laneOf(config, 'codex'),
      cost: { five_hour: between(0.2, 3), weekly: between(0.02, 0.3), monthly: 0, other: 0 },
    };
    const token = `${process.pid}-${number}-${turn}`;
    const admitted = await desk.gate.reserve(token, lane, queue, config.nodeId);
    await redis.hincrby('stats', admitted.ok ? 'admitted' : admitted.reason, 1);
    if (!admitted.ok) await sleep(between(5, 40));
    else await use(redis, desk, token, lane, admitted.cost);
  }
  await desk.close();
  redis.disconnect();
}

async function use(redis: Redis, desk: Desk, token: string, lane: LaneConfig, reserved: CostVector): Promise<void> {
  const luck = random();
  const count = async (what: string): Promise<void> => {
    await redis.hincrby('stats', what, 1);
  };
  if (luck < mix.crashAsToken) return count('crashed before the bind');
  if (luck < mix.crashAsToken + mix.release) {
    await sleep(between(1, 60));
    if (random() < mix.renew) {
      // The same token again: its lease begins anew, and nothing is reserved twice.
      const again = await desk.gate.reserve(token, lane, queue, config.nodeId);
      await count(again.ok ? 'renewed' : 'not renewed');
    }
    await desk.gate.giveBack(token, 'codex');
    return count('released');
  }
  const record = await desk.submit();
  const lowered = Object.fromEntries(
    Object.entries(reserved).map(([window, points]) => [window, Math.round(points * between(0.5, 1))]),
  );
  const crashes = luck < mix.crashAsToken + mix.release + mix.crashAsRun;
  const answer = await desk.start(record, token, { cost: lowered, ttlMs: crashes ? 150 : 20_000 });
  if (answer.answer !== 'yes') return count(answer.answer);
  await sleep(between(1, 60));
  if (crashes) return count('crashed while it ran');
  if (random() < mix.renew) {
    await renew(desk, record, lowered);
    await count('renewed');
  }
  await desk.deliver(record, { success: true });
  const ended = await desk.read(record.id);
  await bill(
    redis,
    record.id,
    ended.endedAt ?? 0,
    Object.fromEntries(
      Object.entries(lowered).map(([window, points]) => [window, Math.round(points * between(0.3, 1))]),
    ),
  );
  return count('settled');
}

async function renew(desk: Desk, { id, attempt, class: of, project }: DispatchRecord, cost: CostVector): Promise<void> {
  await desk.gate.renew({
    dispatch: id,
    attempt,
    lane: laneOf(config, 'codex'),
    node: config.nodeId,
    class: of,
    project,
    cost,
    ttlMs: 20_000,
  });
}

process.stdout.write('ready\n');
await Promise.all(Array.from({ length: Number(clients) }, (_, number) => client(number)));
