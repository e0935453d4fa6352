// What a deep queue costs: `npm run bench -- depth [DEPTH]`. Two Redis servers, one with 100 waiting dispatches and one
// with DEPTH (100,000); one submit and one fetch-and-start each in turn, so that
// both meet the same noise. Budget (DESIGN §10, issue 5): at most 1.5 times.
import { heading, median, row } from './support/bench.mjs';
import { config, fill, fresh, parts } from './support/waiting.mjs';

const { Redis, Worker, openGate, gatedBackend, openQueue, openTransitions, keys, openRecords, queueName, startRedis } =
  parts;
const depth = Number(process.argv[2] ?? 100_000);
const ROUNDS = 200;
const lane = config.lanes[0];

async function openSide() {
  // Without the append-only file: what it writes is the same at any depth, and when the disk is busy is not.
  const server = await startRedis({ args: ['--appendonly', 'no'] });
  const redis = new Redis({ path: server.socket, maxRetriesPerRequest: null });
  const gate = openGate(redis, config);
  const queue = openQueue({ redis, config });
  const records = openRecords(redis);
  const transitions = openTransitions(redis, config);
  const now = Date.now();
  await gate.read({
    account: lane.account,
    windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 1, resetsAt: now + 7_200_000, scope: null }],
    source: 'bench',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
  const name = queueName(lane.id, config.nodeId);
  const cheap = { ...lane, cost: { five_hour: 0.001, weekly: 0.001, monthly: 0.001, other: 0.001 } };
  const door = {
    admit: async (token) =>
      (await gate.reserve(token, cheap, name, config.nodeId)).ok
        ? { ok: true }
        : { ok: false, sleep: async () => undefined },
    giveBack: (token) => gate.giveBack(token, lane.account),
  };
  const worker = new Worker(
    name,
    undefined,
    {
      connection: redis,
      prefix: keys.bull,
      autorun: false,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      skipVersionCheck: true,
    },
    gatedBackend(door),
  );
  worker.on('error', () => undefined);
  await worker.waitUntilReady();
  let tokens = 0;
  return {
    queue,
    submit: () => queue.submit([fresh()]),
    fetch: async () => {
      const token = `t${++tokens}`;
      const job = await worker.getNextJob(token, { block: false });
      if (!job) throw new Error('nothing was fetched');
      const record = await records.read(job.data.id);
      const answer = await transitions.start({
        record,
        node: config.nodeId,
        nonce: token,
        token,
        cost: { five_hour: 1 },
        ttlMs: 3_600_000,
      });
      if (answer.answer !== 'yes') throw new Error(JSON.stringify(answer));
      await job.moveToCompleted(null, token, false);
    },
    close: async () => {
      await worker.close();
      await queue.close();
      redis.disconnect();
      await server.close();
    },
  };
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

heading(`depth ${depth} against 100`);
const sides = [await openSide(), await openSide()];
await fill(sides[0].queue, 100 + 10);
const filling = await timed(() => fill(sides[1].queue, depth + 10));
row(`${depth} submitted, 1,000 in a call`, `${(filling / 1000).toFixed(1)} s`);
for (const side of sides) for (let i = 0; i < 10; i++) await side.fetch();
const times = { submit: [[], []], fetch: [[], []] };
for (let round = 0; round < ROUNDS; round++) {
  for (const what of ['submit', 'fetch'])
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) times[what][i].push(await timed(() => sides[i][what]()));
}
for (const what of ['submit', 'fetch']) {
  const [at100, atDepth] = times[what].map(median);
  const paired = median(times[what][1].map((ms, i) => ms / times[what][0][i]));
  row(
    `${what}, one`,
    `${at100.toFixed(2)} ms at 100, ${atDepth.toFixed(2)} ms at ${depth}: ${(atDepth / at100).toFixed(2)} x (median of pairs ${paired.toFixed(2)}; budget 1.5)`,
    atDepth / at100 <= 1.5,
  );
}
for (const side of sides) await side.close();
process.exit();
