import { Redis } from 'ioredis';
import type { Config, LaneConfig } from '#contract';
import { queueName } from '#store';
import { laneOf } from '../../support/records.js';
import { openDesk } from './desk.js';

/**
 * One of many processes that see the same room: on a box whose clock is off, it asks for a reservation with each of
 * these costs, all at the same moment as the others do (the key `go`); the first that it gets becomes a run. What it
 * was answered stands in the hash `answers`. Then it only lives, until it is killed.
 */
const [socket = '', text = '', costs = '', skewText = '', name = ''] = process.argv.slice(2);
const skewMs = Number(skewText);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number]) {
    super(given[0] ?? RealDate.now() + skewMs);
  }
  static override now(): number {
    return RealDate.now() + skewMs;
  }
} as DateConstructor;

const config = JSON.parse(text) as Config;
const redis = new Redis({ path: socket, maxRetriesPerRequest: null });
const gates = new Redis({ path: socket, maxRetriesPerRequest: null });
const desk = openDesk(redis, config);
const record = await desk.submit();
process.stdout.write('ready\n');

await gates.blpop(`go:${name}`, 0);
const answers = await Promise.all(
  (JSON.parse(costs) as number[]).map(async (cost, n) => {
    const lane: LaneConfig = { ...laneOf(config, 'codex'), cost: { five_hour: cost, weekly: 0, monthly: 0, other: 0 } };
    const token = `${name}-${n}`;
    const answer = await desk.gate.reserve(token, lane, queueName('codex', config.nodeId), config.nodeId);
    return { token, cost: Math.round(cost * 1000), ok: answer.ok, reason: answer.ok ? '' : answer.reason };
  }),
);
const got = answers.find(({ ok }) => ok);
const bound = got
  ? await desk.start(record, got.token, { cost: { five_hour: got.cost }, ttlMs: config.timing.tokenLeaseMs })
  : null;
await redis.hset('answers', name, JSON.stringify({ answers, bound: bound?.answer === 'yes' ? (got?.cost ?? 0) : 0 }));
setInterval(() => undefined, 60_000);
