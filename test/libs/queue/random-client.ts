import { Redis } from 'ioredis';
import type { Config, CostVector, DispatchRecord, LaneConfig } from '#contract';
import { queueName } from '#store';
import { laneOf } from '../../support/records.js';
import { sleep } from '../../support/wait-until.js';
import { openDesk, type Desk } from './desk.js';

/**
 * Until the key `stop` is set, several clients at once, each on its own connection: reserve, start, hold, renew, end; some crash in the middle and never
 * give anything back. What a run has really spent is written to `bills` by the time of its end, for the vendor's meter.
 */
const [socket = '', text = '', seedText = '', clients = ''] = process.argv.slice(2);
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
    const lane: LaneConfig = { ...laneOf(config, 'codex'), cost: { five_hour: between(0.2, 3), weekly: between(0.02, 0.3), monthly: 0, other: 0 } };
    const token = `${process.pid}-${number}-${turn}`;
    const admitted = await desk.gate.reserve(token, lane, queue, config.nodeId);
    await redis.hincrby('stats', admitted.ok ? 'admitted' : admitted.reason, 1);
    if (!admitted.ok) await sleep(between(5, 40));
    else await run(redis, desk, token, admitted.cost);
  }
  await desk.close();
  redis.disconnect();
}

async function run(redis: Redis, desk: Desk, token: string, reserved: CostVector): Promise<void> {
  const luck = random();
  if (luck < 0.03) return redis.hincrby('stats', 'crashed before the bind', 1).then(() => {});
  if (luck < 0.1) return desk.gate.giveBack(token, 'codex');
  const record = await desk.submit();
  const lowered = Object.fromEntries(Object.entries(reserved).map(([window, points]) => [window, Math.round(points * between(0.5, 1))]));
  const crashes = luck < 0.14;
  const answer = await desk.start(record, token, { cost: lowered, ttlMs: crashes ? 150 : 20_000 });
  if (answer.answer !== 'yes') return redis.hincrby('stats', answer.answer, 1).then(() => {});
  await sleep(between(1, 60));
  if (crashes) return redis.hincrby('stats', 'crashed while it ran', 1).then(() => {});
  if (random() < 0.17) await renew(desk, record, lowered);
  await desk.deliver(record, { success: true });
  const ended = await desk.read(record.id);
  const bill = Object.fromEntries(Object.entries(lowered).map(([window, points]) => [window, Math.round(points * between(0.3, 1))]));
  await redis.zadd('bills', ended.endedAt ?? 0, JSON.stringify({ id: record.id, bill }));
}

async function renew(desk: Desk, { id, attempt, class: of, project }: DispatchRecord, cost: CostVector): Promise<void> {
  await desk.gate.renew({ dispatch: id, attempt, lane: laneOf(config, 'codex'), node: config.nodeId, class: of, project, cost, ttlMs: 20_000 });
}

process.stdout.write('ready\n');
await Promise.all(Array.from({ length: Number(clients) }, (_, number) => client(number)));
