// What a deep queue costs: `node bench/depth.mjs [DEPTH]`. Two Redis servers, one with 100 waiting dispatches and one with DEPTH (100,000);
// one submit and one fetch-and-start each in turn, so that both meet the same noise. Then what a waiting dispatch with a 4 KB
// prompt takes of Redis' memory. Budgets (DESIGN §10, issue 5): at most 1.5 times, at most 8 KB.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
const depth = Number(process.argv[2] ?? 100_000);
const ROUNDS = 200;
const folder = mkdtempSync(join(tmpdir(), 'cmo-bench-depth-'));
const servers = [];

const SOURCES = `
export { Redis } from 'ioredis';
export { Worker } from 'bullmq';
export { DEFAULT_CONFIG, dispatchId } from '#contract';
export { laneCost, openGate } from '#gate';
export { gatedBackend, openQueue, openTransitions } from '#queue';
export { keys, openRecords, queueName } from '#store';
export { admit } from '#api/admit';
`;

async function sources() {
  const outfile = join(folder, 'sources.mjs');
  const banner = "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";
  await build({ stdin: { contents: SOURCES, resolveDir: root, loader: 'ts' }, absWorkingDir: root, outfile, bundle: true, platform: 'node', target: 'node20', format: 'esm', conditions: ['cmo-source'], loader: { '.lua': 'text', '.sh': 'text' }, banner: { js: banner }, logLevel: 'warning' });
  return import(pathToFileURL(outfile).href);
}

async function startRedis(name) {
  const socket = join(folder, `${name}.sock`);
  const child = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--dir', folder, '--dbfilename', `${name}.rdb`, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  servers.push(child);
  while (!existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 20));
  return socket;
}

const { Redis, Worker, DEFAULT_CONFIG, dispatchId, openGate, gatedBackend, openQueue, openTransitions, keys, openRecords, queueName, admit } = await sources();
const config = { ...DEFAULT_CONFIG, nodeId: 'bench', holdBack: { slots: 0, points: 0 }, slots: { account: 10_000, node: 10_000, dark: 10_000 }, timing: { ...DEFAULT_CONFIG.timing, restartGraceMs: 0 } };
const lane = config.lanes[0];
/** What a person's shell hands over after the allow-list. */
const env = Object.fromEntries(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'SSH_AUTH_SOCK', 'NVM_DIR', 'GOPATH', 'JAVA_HOME', 'XDG_RUNTIME_DIR', 'XDG_DATA_HOME'].map((name) => [name, `/home/somebody/.local/share/${name.toLowerCase()}/bin:/usr/local/bin:/usr/bin:/bin`]));
const prose = ['ARCHITECTURE.md', 'README.md', 'CONTRIBUTING.md'].map((name) => readFileSync(join(root, name), 'utf8')).join('\n');
const facts = (now) => ({
  now, place: 'folder', project: 'project', installed: { codex: true, claude: true }, parentDepth: null, reviewed: null, schema: { problems: [], rulings: {} }, refusedVariables: [], beside: [],
  lanes: { codex: { available: true, installed: true, worstPercent: 12, nextResetAt: new Date(now + 7_200_000).toISOString(), scoped: [] }, claude: { available: true, installed: true, worstPercent: 34, nextResetAt: new Date(now + 3_600_000).toISOString(), scoped: [{ scope: 'opus', percent: 20, resetsAt: null }] } },
});
let made = 0;
function fresh() {
  made += 1;
  const random = Uint8Array.from({ length: 16 }, (_, i) => (made >> (5 * (15 - i))) % 32);
  const at = (made * 997) % Math.max(prose.length - 4_096, 1);
  const request = { id: dispatchId(Date.now(), random), prompt: prose.slice(at, at + 4_096).padEnd(4_096, ' and so on'), cwd: '/home/somebody/project', env, role: 'research', batch: `batch-${made % 7}`, maxWaitMs: null };
  const admission = admit(request, facts(Date.now()), config);
  if (!admission.ok) throw new Error(JSON.stringify(admission.error));
  return admission.news;
}

async function openSide(name) {
  const redis = new Redis(await startRedis(name), { maxRetriesPerRequest: null });
  const gate = openGate(redis, config);
  const queue = openQueue({ redis, config });
  const records = openRecords(redis);
  const transitions = openTransitions(redis, config);
  const now = Date.now();
  await gate.read({ account: lane.account, windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 1, resetsAt: now + 7_200_000, scope: null }], source: 'bench', writtenAt: now, readAt: now, plan: null });
  const name_ = queueName(lane.id, config.nodeId);
  const door = { admit: async (token) => ((await gate.reserve(token, { ...lane, cost: { five_hour: 0.001, weekly: 0.001, monthly: 0.001, other: 0.001 } }, name_, config.nodeId)).ok ? { ok: true } : { ok: false, sleep: async () => undefined }), giveBack: (token) => gate.giveBack(token, lane.account) };
  const worker = new Worker(name_, undefined, { connection: redis, prefix: keys.bull, autorun: false, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 }, skipVersionCheck: true }, gatedBackend(door));
  worker.on('error', () => undefined);
  await worker.waitUntilReady();
  let tokens = 0;
  return {
    redis,
    fill: async (n) => {
      for (let left = n; left > 0; left -= 1_000) await queue.submit(Array.from({ length: Math.min(left, 1_000) }, fresh));
    },
    submit: () => queue.submit([fresh()]),
    fetch: async () => {
      const token = `t${++tokens}`;
      const job = await worker.getNextJob(token, { block: false });
      if (!job) throw new Error('nothing was fetched');
      const record = await records.read(job.data.id);
      const answer = await transitions.start({ record, node: config.nodeId, nonce: token, token, cost: { five_hour: 1 }, ttlMs: 3_600_000 });
      if (answer.answer !== 'yes') throw new Error(JSON.stringify(answer));
      await job.moveToCompleted(null, token, false);
    },
    close: async () => {
      await worker.close();
      await queue.close();
      redis.disconnect();
    },
  };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

try {
  const [shallow, deep] = [await openSide('shallow'), await openSide('deep')];
  await shallow.fill(100 + 10);
  const from = performance.now();
  await deep.fill(depth + 10);
  console.log(`${depth} waiting dispatches were submitted in ${((performance.now() - from) / 1000).toFixed(1)} s, 1,000 in a call`);
  for (const side of [shallow, deep]) for (let i = 0; i < 10; i++) await side.fetch();
  const times = { submit: [[], []], fetch: [[], []] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const what of ['submit', 'fetch']) {
      const sides = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const i of sides) times[what][i].push(await timed(() => [shallow, deep][i][what]()));
    }
  }
  for (const what of ['submit', 'fetch']) {
    const [at100, atDepth] = times[what].map(median);
    const paired = median(times[what][1].map((ms, i) => ms / times[what][0][i]));
    console.log(`${what.padEnd(7)} ${at100.toFixed(2)} ms at 100, ${atDepth.toFixed(2)} ms at ${depth}: ratio ${(atDepth / at100).toFixed(2)} (median of pairs ${paired.toFixed(2)}; budget 1.5)`);
  }
  await shallow.close();
  await deep.close();

  const memory = await openSide('memory');
  // What is there once, whatever the depth: the scripts, BullMQ's own keys, and its event stream, which it cuts at some 10,000 entries.
  await memory.fill(12_000);
  const used = async () => Number(/used_memory:(\d+)/.exec(await memory.redis.info('memory'))?.[1]);
  const before = await used();
  const n = 5_000;
  await memory.fill(n);
  console.log(`memory  ${Math.round(((await used()) - before) / n)} bytes for each waiting dispatch with a prompt of 4,096 (budget 8,192)`);
  await memory.close();
} finally {
  for (const server of servers) server.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 200));
  rmSync(folder, { recursive: true, force: true });
}
