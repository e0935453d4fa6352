import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive, killNow, processesOf, signal, waitGone } from '../support/processes.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, STAND_INS, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
beforeEach(() => {
  box = openFlow({ clis: { claude: 'claude-ignores-term' } });
});
afterEach(() => box.close());

const HANGS_ONCE = '[[sim:hang times=1 then=echo text="the second one answered"]]';
/** Works on after it has left a child in a session of its own that ignores TERM. */
const LEAVES_A_STRAY = `[[sim:tool cmd="${STAND_INS}forks-a-setsid-stray; sleep 2000000"]]`;

type Agents = { readers: string[]; writer: string; stray: number };

/**
 * One reader on each vendor, one of which only SIGKILL ends; and
 * a writer with a stray. None has a session to go on with.
 */
async function threeAgents(): Promise<Agents> {
  const readers = [
    await box.submit(HANGS_ONCE, '--role', 'research', '--pin', 'codex'),
    await box.submit(HANGS_ONCE, '--read-only', '--pin', 'claude'),
  ];
  const writer = await box.submit(LEAVES_A_STRAY, '--role', 'implement', '--pin', 'codex');
  await waitUntil(() => box.ledger().length === 3, { what: 'three agents to run' });
  const { pid } = await waitUntil(() => box.marked(writer).find(({ command }) => command === 'sleep 1000000'), {
    what: 'the stray',
  });
  for (const sessions of ['codex-home/sessions', 'claude-home/projects'])
    rmSync(join(box.folder, sessions), { recursive: true, force: true });
  return { readers, writer, stray: pid };
}

async function killSupervisors({ readers, writer }: Agents): Promise<void> {
  await Promise.all([...readers, writer].map((id) => killNow(box.runPids(`${id}.1`).supervisor)));
}

/**
 * Daemon, Redis, supervisors, their CLIs and those CLIs' children;
 * the stray lives on, as one in a container of its own would.
 */
async function killEverythingElse({ stray }: Agents): Promise<void> {
  const pids = processesOf(box.folder).flatMap(({ pid }) => (pid === stray ? [] : [pid]));
  for (const pid of pids) signal(pid, 'SIGKILL');
  await Promise.all(pids.map((pid) => waitGone(pid)));
  expect(isAlive(stray)).toBe(true);
  await box.up();
}

test.each([
  ['every supervisor', killSupervisors],
  ['everything at once', killEverythingElse],
])(
  'after a kill -9 of %s each attempt is told once as interrupted; a reader is run again, a writer waits for a look',
  async (_victims, kill) => {
    const agents = await threeAgents();
    await kill(agents);
    const { readers, writer, stray } = agents;
    const ended = await Promise.all([...readers, writer].map((id) => box.cmo(['wait', id])));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 1]);
    expect(await problemsAtRest(box, [...readers, writer])).toEqual([]);

    for (const id of readers) {
      expect((await box.wait(id)).result).toBe('the second one answered');
      const [first, second, whole, ...more] = box.linesOf(id);
      expect(first).toMatchObject({ id: `${id}.1`, access: 'read', outcome: 'interrupted' });
      expect(second).toMatchObject({ id: `${id}.2`, outcome: 'ok' });
      expect(whole).toMatchObject({ kind: 'dispatch', state: 'succeeded', answeredBy: `${id}.2` });
      expect(more).toEqual([]);
    }
    expect(await box.wait(writer)).toMatchObject({
      ok: false,
      state: 'failed',
      needsLook: true,
      error: { code: 'CMO_E_NEEDS_LOOK' },
    });
    const [only, whole, ...more] = box.linesOf(writer);
    expect(only).toMatchObject({ id: `${writer}.1`, access: 'write', outcome: 'interrupted' });
    expect(whole).toMatchObject({ kind: 'dispatch', state: 'failed', needsLook: true, answeredBy: null });
    expect(more).toEqual([]);

    expect(isAlive(stray)).toBe(false);
    expect(box.starts()).toEqual(
      Object.fromEntries(
        [...readers.flatMap((id) => [`${id}.1`, `${id}.2`]), `${writer}.1`].map((attempt) => [attempt, 1]),
      ),
    );
  },
);
