import type { Redis } from 'ioredis';
import { openGate } from '#gate';
import type { Config } from '#contract';
import { gateKeys } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { testConfig } from '../../support/records.js';
import type { TestRedis } from '../../support/redis.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import type { Mix } from '../queue/random-client.js';
import { LaggingVendor } from './lagging-vendor.js';

const LAG_MS = 150;
const WINDOW_MS = 1_500;
const SLOTS = 12;
/** Between two readings that the gate is told, ms. */
const READ_MS = 60;

// A limit so low that it is met in every window, however slow the box.
export const CROWD: Config = testConfig({
  pressure: { tight: 20, critical: 30, exhausted: 40 },
  slots: { account: SLOTS, node: 100, dark: SLOTS },
  timing: { tokenLeaseMs: 300, settleCeilingMs: 500 },
});
export const CROWD_BOUNDS = { limit: CROWD.pressure.exhausted * 1000, slots: SLOTS };

export type CrowdOptions = {
  seed: number;
  processes: number;
  /** In each process, every one with a connection of its own. */
  clients: number;
  /** It is watched at least this often, over at least this many of the vendor's windows. */
  audits: number;
  windows: number;
  mix: Mix;
  /**
   * To see the auditor find it. `ghost`: a reservation that no script made. `limit`: one process whose limit is ten
   * points higher, as if the gate admitted too much.
   */
  broken?: 'ghost' | 'limit' | null;
};

export type CrowdOutcome = {
  audits: number;
  /** Audits that found something, and what the first of them found. */
  violations: number;
  problems: string[];
  /** Thousandths of a point in the fullest window, and in flight, at most in any audit. */
  most: { effective: number; inFlight: number };
  /** Thousandths: the highest that the vendor ever said. */
  highest: number;
  /** What the clients counted: admitted, each refusal, crashes, renewals, settled. */
  stats: Record<string, number>;
  seconds: number;
  /** After all have left, all leases have lapsed and the last reading came. */
  left: {
    ids: string[];
    inFlight: number;
    sums: Record<string, string>;
    recount: Record<string, number>;
    indexes: string[];
  };
};

/**
 * Clients with random costs in two windows, random holds, crashes, renewals and a meter that lags, on the real gate,
 * while an auditor that shares no line with it works everything out again from the raw reservations.
 * @param start starts a process of random-client.ts with these arguments
 */
export async function crowd(
  server: TestRedis,
  start: (args: string[]) => Promise<{ left: Promise<unknown> }>,
  options: CrowdOptions,
): Promise<CrowdOutcome> {
  const redis = server.client();
  const gate = openGate(redis, CROWD);
  const vendor = new LaggingVendor(redis, LAG_MS, WINDOW_MS, { five_hour: 0, weekly: 10 });
  await vendor.tell(gate);
  const args = (i: number): string[] => [
    server.socket,
    JSON.stringify(options.broken === 'limit' && i === 0 ? above(CROWD) : CROWD),
    String(options.seed + i),
    String(options.clients),
    JSON.stringify(options.mix),
  ];
  const children = await Promise.all(Array.from({ length: options.processes }, (_, i) => start(args(i))));

  const began = Date.now();
  const outcome: CrowdOutcome = {
    audits: 0,
    violations: 0,
    problems: [],
    most: { effective: 0, inFlight: 0 },
    highest: 0,
    stats: {},
    seconds: 0,
    left: { ids: [], inFlight: 0, sums: {}, recount: {}, indexes: [] },
  };
  let nextReading = 0;
  while (outcome.audits < options.audits || Date.now() < began + options.windows * WINDOW_MS) {
    const { problems, inFlight, effective } = await auditGate(redis, 'codex', { ...CROWD_BOUNDS, records: true });
    outcome.audits += 1;
    if (problems.length > 0) outcome.violations += 1;
    if (outcome.problems.length === 0) outcome.problems = problems;
    outcome.most = {
      effective: Math.max(outcome.most.effective, effective),
      inFlight: Math.max(outcome.most.inFlight, inFlight),
    };
    if (options.broken === 'ghost' && outcome.audits === Math.ceil(options.audits / 2)) await haunt(redis);
    if (Date.now() < nextReading) continue;
    nextReading = Date.now() + READ_MS;
    outcome.highest = Math.max(outcome.highest, (await vendor.tell(gate)) * 1000);
  }
  outcome.seconds = (Date.now() - began) / 1000;
  await redis.set('stop', '1');
  await Promise.all(children.map(({ left }) => left));
  const stats = await redis.hgetall('stats');
  outcome.stats = Object.fromEntries(Object.entries(stats).map(([name, count]) => [name, Number(count)]));
  outcome.left.indexes = await auditIndexes(redis);
  if (options.broken) return outcome;

  await waitUntil(async () => (await gate.snapshot('codex')).inFlight === 0, {
    what: 'the leases of the crashed to lapse',
  });
  await sleep(LAG_MS + 50);
  await vendor.tell(gate);
  const { ids, inFlight } = await auditGate(redis, 'codex');
  outcome.left = {
    ...outcome.left,
    ids,
    inFlight,
    sums: await redis.hgetall(gateKeys('codex')[3]),
    recount: await gate.recount('codex'),
  };
  return outcome;
}

function above(config: Config): Config {
  return { ...config, pressure: { ...config.pressure, exhausted: config.pressure.exhausted + 10 } };
}

async function haunt(redis: Redis): Promise<void> {
  const [, reservations, leases] = gateKeys('codex');
  await redis.hset(
    reservations,
    'ghost',
    JSON.stringify({ st: 'token', cost: { five_hour: 500 }, lane: 'codex', node: 'nowhere' }),
  );
  await redis.zadd(leases, Date.now() + 60_000, 'ghost');
}
