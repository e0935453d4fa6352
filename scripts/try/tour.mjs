// The small batch of `npm run try`: two plain dispatches, one that meets a spent window and goes to the other vendor,
// one whose daemon is killed while its agent works.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSim } from '../../test/vendor-sim/lib/server.mjs';
import { installedCli, standIn } from './scene.mjs';
import { simulatedLane, standInLane } from './lanes.mjs';
import { send } from './processes.mjs';
import { printAgents, printCensus, printEnd, printReceipts } from './report.mjs';

const LANES = ['codex', 'claude'];
const SLOW_SECONDS = 4;

/** Resolves to what was not as it should be; empty when all was. */
export async function tour(scene) {
  const clis = Object.fromEntries(LANES.map((id) => [id, installedCli(id, scene.env)]));
  const sim = Object.values(clis).some(Boolean) ? createSim() : null;
  try {
    const url = sim && (await sim.listen()).url;
    // The simulated codex says that its window is spent to every prompt that asks for nothing else.
    sim?.book.set({ vendor: 'codex', name: 'usage-limit', params: { resets_in: '3600' } });
    const lane = (id) =>
      clis[id] ? simulatedLane(id, clis[id], url, scene.folder) : standInLane(id, standIn(id), scene.folder);
    scene.configure({ lanes: Object.fromEntries(LANES.map((id) => [id, lane(id)])) });
    printAgents(scene, clis);
    return await runBatch(scene);
  } finally {
    await sim?.close();
  }
}

async function runBatch(scene) {
  const wrong = [];
  const ids = [];
  const expect = (fact, words) => fact || wrong.push(words);
  const submit = async (prompt, ...flags) => {
    const answer = await scene.ask(['submit', '--role', 'research', ...flags], { input: prompt });
    if (!answer.ok) throw new Error(`${answer.error.message}; ${answer.error.fix}`);
    const id = answer.data.dispatches[0].dispatchId;
    ids.push(id);
    return id;
  };
  const ended = (id) => scene.ask(['wait', id]);

  const plain = [
    await submit('Say hello. [[sim:echo text="hello from codex"]]', '--pin', 'codex'),
    await submit('Say hello. [[sim:echo text="hello from claude"]]', '--pin', 'claude'),
  ];
  for (const id of plain) {
    const envelope = await ended(id);
    expect(envelope.ok, `${id} did not succeed: ${envelope.error?.message ?? envelope.state}`);
    printEnd(`a plain dispatch on ${envelope.lane}`, envelope);
  }

  const moved = await ended(await submit('Name three risks of this plan. [[codex:usage-limit resets_in=3600]]'));
  expect(
    moved.ok && moved.lane === 'claude' && moved.attempts.length === 2,
    'the dispatch that met a spent window did not end on the other vendor',
  );
  expect(moved.attempts[0]?.class === 'usage_limit', 'the spent window was not recognised');
  printEnd("codex's window was spent: it moved to claude", moved);

  const slow = await submit(`Think for a while. [[sim:slow seconds=${SLOW_SECONDS}]]`, '--pin', 'claude');
  await untilStarted(scene, slow);
  const before = await scene.status();
  send(before.pid, 'SIGKILL');
  const adopted = await ended(slow);
  const after = await scene.status();
  expect(adopted.ok && adopted.attempts.length === 1, 'the agent whose daemon was killed was lost or run again');
  expect(after.pid !== before.pid, 'the daemon was not started again');
  expect(
    adopted.receipts.some(({ kind, adopted: yes }) => kind === 'attempt' && yes),
    'the attempt was not adopted',
  );
  printEnd(`its daemon (pid ${before.pid}) was killed with SIGKILL; the next one adopted it`, adopted);

  const rows = (await scene.ask(['ls', '--limit', '100'])).data.dispatches;
  const receipts = (await Promise.all(ids.map((id) => scene.ask(['show', id])))).flatMap(({ data }) => data.receipts);
  printCensus(rows);
  printReceipts(ids, receipts);
  expect(
    rows.length === ids.length && receipts.filter(({ kind }) => kind === 'dispatch').length === ids.length,
    'the census does not add up',
  );
  expect(
    receipts.filter(({ kind }) => kind === 'attempt').length === ids.length + 1,
    'not every started attempt has its one line',
  );
  const starts = startsOf(join(scene.folder, 'ledger.jsonl'));
  expect(
    [...starts.values()].every((count) => count === 1),
    'a CLI was started twice for one attempt',
  );
  return wrong;
}

async function untilStarted(scene, id) {
  for (;;) {
    const { record } = (await scene.ask(['show', id])).data;
    if (record.startedAt !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** From what the stand-ins wrote down: starts per attempt. */
function startsOf(ledger) {
  const starts = new Map();
  if (!existsSync(ledger)) return starts;
  for (const line of readFileSync(ledger, 'utf8').split('\n').filter(Boolean)) {
    const { event, attempt } = JSON.parse(line);
    if (event === 'start') starts.set(attempt, (starts.get(attempt) ?? 0) + 1);
  }
  return starts;
}
