// The gate under 64 clients, watched by an auditor, and its speed against SET+DEL: `npm run bench -- gate [AUDITS]
// [--break ghost|limit]`. 8 processes x 8 connections: random costs in two windows, random holds, 3 % crashes (their
// leases lapse), 17 % renewals, 20 % settle until a meter that lags says so. Asserted: no audit finds a violation, both
// bounds were met, nothing is left at the end. Then the same 64 connections do pairs of reserve and give-back, in
// turns with pairs of SET and DEL (budget: half of their number). `--break` makes the auditor find something.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, heading, load, median, must, root, row, startChild } from './support/bench.mjs';

const PROCESSES = 8;
const CLIENTS = 8;
const ROUNDS = 5;
const ROUND_MS = 1_500;
const args = process.argv.slice(2);
const broken = args.includes('--break') ? args[args.indexOf('--break') + 1] : null;
if (broken !== null && broken !== 'ghost' && broken !== 'limit') throw new Error('--break ghost | --break limit');
const audits = Number(args.find((word) => /^\d+$/.test(word)) ?? 1_000);
/** Of four in five the token is given back; one in five becomes a run, ends and settles. */
const mix = { crashAsToken: 0.015, crashAsRun: 0.015, release: 0.77, renew: 0.17 };

const { crowd, CROWD_BOUNDS, openGate, startRedis, testConfig } = await load(
  'parts',
  `export { crowd, CROWD_BOUNDS } from './test/libs/gate/many-clients.ts';
   export { openGate } from '#gate';
   export { startRedis } from './test/support/redis.ts';
   export { testConfig } from './test/support/records.ts';`,
);
heading(`gate, ${PROCESSES} x ${CLIENTS} clients`);
await property();
if (broken === null) await throughput();
process.exit();

async function property() {
  const client = await bundle('random-client', "import './test/libs/queue/random-client.ts';");
  const server = await startRedis();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const seen = await crowd(server, (words) => startChild(client, words), {
    seed,
    processes: PROCESSES,
    clients: CLIENTS,
    audits,
    windows: 8,
    mix,
    broken,
  });
  await server.close();
  const { stats, most, left } = seen;
  const refused = (stats.limit ?? 0) + (stats.slots ?? 0);
  must('audits, each atomic', `${seen.audits} in ${seen.seconds.toFixed(1)} s, seed ${seed}`, seen.audits >= 500);
  must(
    'audits that found a violation',
    `${seen.violations}${seen.problems
      .map((problem) => `\n       ${problem}`)
      .slice(0, 5)
      .join('')}`,
    seen.violations === 0,
  );
  must(
    'most in the fullest window, and in flight',
    `${(most.effective / 1000).toFixed(3)} of ${CROWD_BOUNDS.limit / 1000} points, ${most.inFlight} of ${CROWD_BOUNDS.slots} slots`,
    most.effective <= CROWD_BOUNDS.limit && most.inFlight === CROWD_BOUNDS.slots,
  );
  must(
    'highest that the vendor saw spent',
    `${(seen.highest / 1000).toFixed(3)} points`,
    seen.highest <= CROWD_BOUNDS.limit,
  );
  row(
    'what happened',
    `${stats.admitted} admitted, ${refused} refused (${stats.limit} by the limit), ${(stats['crashed before the bind'] ?? 0) + (stats['crashed while it ran'] ?? 0)} crashed, ${stats.renewed} renewed, ${stats.settled} settled`,
  );
  if (broken !== null) return;
  const sums = Object.values(left.sums).filter((sum) => sum !== '0');
  must(
    'left at the end',
    `${left.ids.length} reservations, ${left.inFlight} in flight, ${sums.length} sums that are not 0, ${left.indexes.length} wrong indexes`,
    left.ids.length + left.inFlight + sums.length + left.indexes.length === 0,
  );
}

async function throughput() {
  const server = await startRedis();
  const redis = server.client();
  const config = testConfig({ slots: { account: 10_000, node: 10_000, dark: 10_000 } });
  const now = Date.now();
  const windows = ['five_hour', 'weekly'].map((id) => ({
    id,
    kind: id,
    usedPercent: 1,
    resetsAt: now + 7_200_000,
    scope: null,
  }));
  await openGate(redis, config).read({
    account: 'codex',
    windows,
    source: 'bench',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
  const file = await bundle('pairs', readFileSync(join(root, 'bench/support/pairs.mjs'), 'utf8'));
  // The first of each is for the compiler, and not counted.
  const rounds = Array.from({ length: ROUNDS + 1 }, (_, i) => [`floor-${i}`, `gate-${i}`]).flat();
  const children = await Promise.all(
    Array.from({ length: PROCESSES }, () =>
      startChild(file, [server.socket, JSON.stringify(config), String(CLIENTS), ...rounds]),
    ),
  );
  const processor = [];
  for (const name of rounds) {
    const before = await processorTime(redis);
    await redis.set(`round:${name}`, Date.now() + ROUND_MS);
    while (Number(await redis.get(`done:${name}`)) < PROCESSES) await new Promise((resolve) => setTimeout(resolve, 20));
    processor.push((await processorTime(redis)) - before);
  }
  const printed = (await Promise.all(children.map(({ left }) => left))).map((text) => JSON.parse(text));
  await server.close();
  // Two calls a pair.
  const calls = (i) => printed.reduce((sum, one) => sum + one[i].pairs, 0) * 2;
  const of = (way, figure) =>
    median(rounds.flatMap((name, i) => (name.startsWith(way) && !name.endsWith('-0') ? [figure(i)].flat() : [])));
  const rate = (way) => of(way, (i) => (calls(i) * 1_000) / ROUND_MS);
  for (const [way, what] of [
    ['floor', 'SET + DEL'],
    ['gate', 'reserve + give back'],
  ]) {
    const [p50, p99, client] = ['p50', 'p99', 'processor'].map((name) =>
      of(way, (i) => printed.map((one) => one[i][name])),
    );
    const times = `a pair p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    row(
      what,
      `${Math.round(rate(way))} calls/s, ${times}; processor a call: Redis ${of(way, (i) => (processor[i] * 1e6) / calls(i)).toFixed(0)} us, client ${client.toFixed(0)} us`,
    );
  }
  row('gate / floor', `${(rate('gate') / rate('floor')).toFixed(2)} (budget 0.5)`, rate('gate') / rate('floor') >= 0.5);
}

/** Seconds of its main thread. */
async function processorTime(redis) {
  const info = await redis.info('cpu');
  return (
    Number(/used_cpu_sys_main_thread:([\d.]+)/.exec(info)?.[1]) +
    Number(/used_cpu_user_main_thread:([\d.]+)/.exec(info)?.[1])
  );
}
