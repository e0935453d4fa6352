// 250 at once, on the built programs with stand-in CLIs: `npm run bench -- submit [COUNT] [WIDTH]`. COUNT dispatches in
// one call (budget 1 s), as a batch file by `cmo submit` and as one POST to the daemon; then COUNT `cmo run`, each a
// process of its own, WIDTH (16) at a time: all must succeed, each agent started once. Beside them the same stand-in in
// a plain shell loop of that width. (The design also states a bound against an older tool, which is not part of this
// repository.)
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { heading, load, median, must, root, row } from './support/bench.mjs';

const count = Number(process.argv[2] ?? 250);
const width = Number(process.argv[3] ?? 16);
const ROUNDS = 5;
if (!existsSync(join(root, 'dist/cmo.cjs'))) throw new Error('dist/ is not built: node scripts/build.mjs');
const { openCmo, dispatchId } = await load(
  'parts',
  "export { openCmo } from './test/support/cmo.ts'; export { dispatchId } from '#contract';",
);
const slots = { account: width, node: width, dark: width };
const box = openCmo({ config: { slots, holdBack: { slots: 0, points: 0 } } });
try {
  heading(`${count} at once`);
  await inOneCall();
  await shims();
} finally {
  await box.close();
}
process.exit();

async function inOneCall() {
  await done(['pause', '--all', '--reason', 'bench']);
  const keepAlive = new Agent({ keepAlive: true });
  const [asFile, asPost] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    const file = join(box.work, `batch-${i}.jsonl`);
    writeFileSync(
      file,
      Array.from({ length: count }, (_, n) =>
        JSON.stringify({ prompt: `${n} of ${i} [[sim:echo]]`, role: 'research' }),
      ).join('\n'),
    );
    asFile.push(await timed(() => done(['submit', '--batch', file, '--batch-name', `file-${i}`])));
    const dispatches = Array.from({ length: count }, (_, n) => ({
      id: newId(),
      prompt: `${n} [[sim:echo]]\n`,
      cwd: box.work,
      env: box.env,
      role: 'research',
      batch: `post-${i}`,
    }));
    asPost.push(await timed(() => post(keepAlive, { dispatches })));
  }
  keepAlive.destroy();
  const { counts } = await box.status();
  must('all of them wait', `${counts.queued} of ${2 * ROUNDS * count}`, counts.queued === 2 * ROUNDS * count);
  const figure = (list) =>
    `median ${Math.round(median(list))} ms, worst ${Math.round(Math.max(...list))} ms of ${ROUNDS} (budget 1,000)`;
  row('cmo submit --batch, the whole command', figure(asFile), median(asFile) <= 1_000);
  row('the same as one POST', figure(asPost), median(asPost) <= 1_000);
  for (let i = 0; i < ROUNDS; i++)
    for (const name of [`file-${i}`, `post-${i}`]) await done(['cancel', '--batch', name, '--yes']);
  await done(['resume', '--all']);
}

async function shims() {
  const prompts = Array.from({ length: count }, (_, n) => `${n} [[sim:echo]]`);
  const codes = {};
  const shim = async (prompt) => {
    const { code } = await box.cmo(['run', '--role', 'research', '--pin', 'codex'], { input: prompt });
    codes[code] = (codes[code] ?? 0) + 1;
  };
  const took = await timed(() => pool(prompts, shim));
  const starts = Object.values(box.starts());
  must(
    `${count} cmo run, ${width} at a time`,
    `${(took / 1_000).toFixed(1)} s; exit codes ${JSON.stringify(codes)}`,
    codes[0] === count,
  );
  must(
    'each agent started once',
    `${starts.length} attempts, ${starts.reduce((sum, n) => sum + n, 0)} starts`,
    starts.length === count && starts.every((n) => n === 1),
  );
  const lines = box.receipts().filter(({ kind, state }) => kind === 'dispatch' && state === 'succeeded');
  must('a line for each in the receipts', `${lines.length}`, lines.length === count);

  const env = {
    ...box.env,
    CODEX_HOME: join(box.folder, 'loop-home'),
    CMO_TEST_LEDGER: join(box.folder, 'loop-ledger'),
  };
  mkdirSync(env.CODEX_HOME);
  const alone = (prompt) =>
    new Promise((resolve, reject) => {
      const child = spawn(
        'sh',
        ['-c', 'printf %s "$0" | codex exec - --json --skip-git-repo-check >/dev/null', prompt],
        { env, cwd: box.work, stdio: ['ignore', 'ignore', 'inherit'] },
      );
      child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`the stand-in left with ${code}`))));
    });
  const bare = await timed(() => pool(prompts, alone));
  row(
    'the stand-in alone, in a shell loop of that width',
    `${(bare / 1_000).toFixed(1)} s: cmo takes ${(took / bare).toFixed(1)} x, ${Math.round((took - bare) / count)} ms more for each`,
  );
}

async function pool(items, work) {
  const left = [...items];
  const worker = async () => {
    while (left.length > 0) await work(left.shift());
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function done(args) {
  const { code, stderr } = await box.cmo(args);
  if (code !== 0) throw new Error(`cmo ${args.join(' ')} left with ${code}: ${stderr}`);
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function newId() {
  return dispatchId(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
}

function post(agent, body) {
  const payload = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/json', 'content-length': payload.length };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { socketPath: join(box.stateDir, 'sockets/api.sock'), agent, method: 'POST', path: '/v1/dispatches', headers },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const answer = JSON.parse(Buffer.concat(chunks).toString());
          if (answer.ok) resolve(answer);
          else reject(new Error(JSON.stringify(answer.error)));
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}
