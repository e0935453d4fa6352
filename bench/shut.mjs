// A shut gate: what its workers send, and how fast it wakes: `npm run bench -- shut [SECONDS] [ROUNDS]`. First the two
// lane workers alone (their connections, nothing else on that Redis), each with 100 dispatches waiting before a full
// window, by MONITOR without what scripts do inside: at most two commands a second for each; the whole worker beside it
// for comparison. Then, ROUNDS times, a reading that makes room is published, until the
// record says running (run folder made, reservation bound), by Redis' clock: at most 50 ms.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, heading, load, must, quantile, row } from './support/bench.mjs';

const seconds = Number(process.argv[2] ?? 20);
const rounds = Number(process.argv[3] ?? 40);
const WAITING = 100;
const { DEFAULT_CONFIG, openBox, openDesk, openStation, overhear, startRedis, testConfig } = await load(
  'parts',
  `export { openBox } from './test/support/box.ts';
   export { openDesk } from './test/libs/queue/desk.ts';
   export { openStation } from './test/libs/queue/station.ts';
   export { overhear } from './test/libs/queue/overhear.ts';
   export { DEFAULT_CONFIG } from '#contract';
   export { startRedis } from './test/support/redis.ts';
   export { testConfig } from './test/support/records.ts';`,
);
heading('a shut gate');
await silence();
await wakes();
process.exit();

async function silence() {
  const config = testConfig();
  const server = await startRedis();
  const redis = server.client();
  const desk = openDesk(redis, config);
  for (const { id, account } of config.lanes) {
    await reading(desk.gate, account, 96);
    for (let i = 0; i < WAITING; i++) await desk.submit({ lane: id });
  }
  const stations = [];
  for (const { id } of config.lanes) stations.push(await openStation(server.client(), { config, lane: id }));
  await sleep(1_000);
  const counts = await heardIn(redis);
  for (const { id } of config.lanes) {
    const asked = counts.heard.reserves(id);
    row(`${id}: asked the gate`, `${asked} times in ${seconds} s`);
  }
  must('fetched while it is shut', `${counts.heard.fetches()}`, counts.heard.fetches() === 0);
  const each = counts.all / stations.length / seconds;
  must('commands a second for each lane worker', `${each.toFixed(2)} (budget 2); ${counts.names}`, each <= 2);
  counts.heard.close();
  await Promise.all(stations.map((station) => station.close()));
  await server.close();

  const box = await openBox();
  for (const { id, account } of box.config.lanes) {
    await reading(box.gate, account, 96);
    for (let i = 0; i < WAITING; i++) await box.submit('waits', { lane: id });
  }
  await box.start();
  await sleep(1_000);
  const whole = await heardIn(box.redis);
  row(
    'the whole worker: heartbeat, scan, sweeper, prober too',
    `${(whole.all / seconds).toFixed(1)} commands/s with ${2 * WAITING} waiting; ${whole.names}`,
  );
  whole.heard.close();
  await box.close();
}

async function wakes() {
  // What the runs themselves report does not open it.
  writeFileSync(join(folder, 'meter'), '96 34\n');
  const env = { CMO_TEST_METER: join(folder, 'meter') };
  // One lane: with a second the waiting work would move there.
  const lanes = DEFAULT_CONFIG.lanes.filter(({ id }) => id === 'codex').map((lane) => ({ ...lane, env }));
  // Nothing is started by the look that a refused worker takes by itself.
  const box = await openBox({ lanes, timing: { wakeFallbackMs: 600_000 } });
  await reading(box.gate, 'codex', 96);
  await box.start();
  const took = [];
  for (let i = 0; i < rounds; i++) {
    await reading(box.gate, 'codex', 96);
    // Whoever was admitted a moment ago has found nothing by then.
    await sleep(100);
    const id = await box.submit('[[sim:echo]]');
    await sleep(200 + 100 * Math.random());
    const [at, micros] = await box.redis.time();
    await reading(box.gate, 'codex', 10);
    const record = await box.ended(id);
    took.push(record.startedAt - (Number(at) * 1_000 + Math.floor(Number(micros) / 1_000)));
  }
  await box.close();
  if (took.some((ms) => ms < 0)) throw new Error(`started before it was opened: ${took.join(' ')}`);
  const figures = [0.5, 0.95, 1].map((share) => quantile(took, share));
  row(
    'wake published -> record running',
    `p50 ${figures[0]} ms, p95 ${figures[1]} ms, at most ${figures[2]} ms in ${rounds} (budget 50)`,
    figures[1] <= 50,
  );
}

/** What clients sent in that time, but for the marks of whoever counts. */
async function heardIn(redis) {
  const heard = await overhear(redis);
  await heard.clear();
  await sleep(seconds * 1_000);
  await heard.settle();
  const names = {};
  const count = (name, n) => n > 0 && (names[name] = (names[name] ?? 0) + n);
  count('reserve', heard.reserves('codex') + heard.reserves('claude'));
  count('fetch', heard.fetches());
  const others = heard.others();
  count(
    'look for stalled',
    heard.all() - others.length - heard.fetches() - heard.reserves('codex') - heard.reserves('claude'),
  );
  for (const [name] of others) count(name.toLowerCase(), 1);
  return {
    heard,
    all: heard.all(),
    names: Object.entries(names)
      .map(([name, n]) => `${name} ${n}`)
      .join(', '),
  };
}

function reading(gate, account, usedPercent) {
  const now = Date.now();
  const windows = [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt: now + 3_600_000, scope: null }];
  return gate.read({ account, windows, source: 'bench', writtenAt: now, readAt: now, plan: null });
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
