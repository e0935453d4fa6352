import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isEnded, type SubmitData } from '#contract';
import { call } from '../apps/daemon/home.js';
import { killNow } from '../support/processes.js';
import { newId } from '../support/records.js';
import { POINTS, SEED, seeded } from '../support/seeded.js';
import { sleep, waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

const WRITERS = 100;

test.each<[string, boolean]>([
  ['the daemon', false],
  ['the daemon, and of an agent’s supervisor with it', true],
])(
  `${WRITERS} writers and a kill -9 of %s at ${POINTS} random moments: each wrote once, or went on in its session and says so, or waits for a look`,
  async (_victims, supervisors) => {
    console.log(`written once: CMO_TEST_SEED=${SEED} CMO_CHAOS_POINTS=${POINTS}`);
    const random = seeded(SEED);
    box = openFlow();
    await box.up();
    const file = join(box.folder, 'written');
    const dispatches = Array.from({ length: WRITERS }, (_, n) => ({
      id: newId(),
      prompt: `[[sim:tool id=w${n} cmd="echo ${n} >> ${file}; sleep ${(random() * 0.4).toFixed(2)}"]]`,
      cwd: box.work,
      env: { PATH: box.env['PATH'] ?? '', HOME: box.env['HOME'] ?? '' },
      role: 'implement' as const,
      pin: n % 2 === 0 ? 'codex' : 'claude',
    }));
    const answer = await call<SubmitData>(box.paths.apiSocket, 'POST', '/v1/dispatches', { dispatches });
    expect(answer.ok).toBe(true);
    const ids = dispatches.map(({ id }) => id);

    for (let point = 0; point < POINTS; point++) {
      // Spread over the time that they take together.
      await sleep(random() * Math.max(400, 8_000 / POINTS));
      const running = box.runFolders().filter(({ where }) => where === 'runs');
      const victim = running[Math.floor(random() * running.length)];
      await Promise.all([
        box.killDaemon(),
        ...(supervisors && victim ? [killNow(supervisorOf(victim.folder)).catch(() => undefined)] : []),
      ]);
      void box.cmo(['up']);
    }
    await box.up();
    const rows = await waitUntil(
      async () => {
        const found = await box.ls().catch(() => []);
        return found.filter(({ state }) => isEnded(state)).length === WRITERS ? found : null;
      },
      { what: 'all to end', timeoutMs: 120_000, everyMs: 500 },
    );
    expect(await problemsAtRest(box, ids)).toEqual([]);

    const written = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
    for (const [n, id] of ids.entries()) {
      const times = written.filter((one) => one === n).length;
      const row = rows.find((one) => one.id === id);
      const attempts = box.linesOf(id).flatMap((line) => (line.kind === 'attempt' ? [line] : []));
      const told = attempts.filter(({ notes }) => notes.includes('resumed')).length;
      // More than once only where its session went on, each time told.
      expect(times, `${id} wrote ${times} times in ${attempts.length} attempts`).toBeLessThanOrEqual(1 + told);
      if (row?.state === 'succeeded') expect(times, id).toBeGreaterThan(0);
      else expect(row, id).toMatchObject({ state: 'failed', needsLook: true });
      if (!supervisors) expect([times, row?.state, attempts.length], id).toEqual([1, 'succeeded', 1]);
    }
  },
  300_000,
);

function supervisorOf(folder: string): number {
  try {
    return (JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as { pid: number }).pid;
  } catch {
    // It is not there yet, or delivered meanwhile: then nobody is killed.
    return 2 ** 22 + 1;
  }
}
