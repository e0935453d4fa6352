import { afterEach, beforeEach, expect, test } from 'vitest';
import { isEnded, type DispatchRow } from '#contract';
import { call } from '../apps/daemon/home.js';
import { killNow } from '../support/processes.js';
import { newId } from '../support/records.js';
import { sleep, waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
beforeEach(async () => {
  box = openFlow();
  await box.up();
});
afterEach(() => box.close());

/** CMO_TEST_SEED repeats a run's kinds of work and moments, as far as processes can be repeated. */
const SEED = Number(process.env['CMO_TEST_SEED'] ?? Date.now() % 1_000_000);

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const KINDS = [
  { prompt: '[[sim:echo]]' },
  { prompt: '[[sim:echo]]' },
  { prompt: '[[sim:slow seconds=0.5]]' },
  { prompt: '[[sim:slow seconds=0.5]]' },
  { prompt: '[[sim:empty times=1 then=echo]]' },
  { prompt: '[[sim:bad-request]]' },
];

/** Twenty in one call, as `submit --batch` sends them. */
async function submitTwenty(random: () => number): Promise<string[]> {
  const dispatches = Array.from({ length: 20 }, (_, i) => {
    const kind = KINDS[Math.floor(random() * KINDS.length)] ?? { prompt: '' };
    return { id: newId(), prompt: `${i} ${kind.prompt}`, cwd: box.work, env: { PATH: box.env['PATH'] ?? '', HOME: box.env['HOME'] ?? '' }, readOnly: true, ...(i % 3 === 0 ? { pin: 'claude' } : {}) };
  });
  const answer = await call<{ dispatches: unknown[] }>(box.paths.apiSocket, 'POST', '/v1/dispatches', { dispatches });
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return dispatches.map(({ id }) => id);
}

type Victim = 'daemon' | 'redis' | 'both' | 'supervisor';

async function killOne(victim: Victim, random: () => number): Promise<void> {
  if (victim === 'daemon' || victim === 'both') await box.killDaemon();
  if (victim === 'redis' || victim === 'both') await box.killRedis();
  if (victim !== 'supervisor') return;
  const running = box.runFolders().filter(({ where }) => where === 'runs');
  const one = running[Math.floor(random() * running.length)];
  if (one === undefined) return;
  try {
    await killNow(box.runPids(one.id).supervisor);
  } catch {
    // It has no run.json yet, or was delivered meanwhile.
  }
}

async function allEnded(ids: readonly string[]): Promise<Map<string, DispatchRow>> {
  return waitUntil(
    async () => {
      const rows = await box.ls().catch(() => []);
      const ended = rows.filter(({ id, state }) => ids.includes(id) && isEnded(state));
      return ended.length === ids.length ? new Map(ended.map((row) => [row.id, row])) : null;
    },
    { what: 'all dispatches to end', timeoutMs: 45_000, everyMs: 300 },
  );
}

test.each<[string, Victim[]]>([
  ['the daemon', ['daemon']],
  ['the daemon, Redis, both, or a supervisor', ['daemon', 'redis', 'both', 'supervisor']],
])('a kill -9 of %s at three random moments of twenty dispatches loses nothing and starts nothing twice', async (name, victims) => {
  console.log(`torn moments, ${name}: CMO_TEST_SEED=${SEED}`);
  const random = seeded(SEED);
  const ids = await submitTwenty(random);
  const cancelled = ids.filter((_, i) => i % 10 === 7);
  for (let kill = 0; kill < 3; kill++) {
    await sleep(random() * 900);
    if (kill === 1) for (const id of cancelled) void box.cmo(['cancel', id]);
    await killOne(victims[Math.floor(random() * victims.length)] ?? 'daemon', random);
    // The next moment may come before it is up.
    void box.cmo(['up']);
  }
  await box.up();
  const rows = await allEnded(ids);
  expect(await problemsAtRest(box, ids)).toEqual([]);
  for (const id of ids) {
    const whole = box.linesOf(id).find(({ kind }) => kind === 'dispatch');
    expect(whole, id).toMatchObject({ state: rows.get(id)?.state });
  }
  const states = ids.filter((id) => !cancelled.includes(id)).map((id) => rows.get(id)?.state);
  expect(states.filter((state) => state !== 'succeeded' && state !== 'failed')).toEqual([]);
});
