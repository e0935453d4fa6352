import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import type { Started } from '../support/cmo.js';
import { processesOf } from '../support/processes.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, STAND_INS, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
let go: string;
beforeEach(() => {
  box = openFlow();
  go = join(box.folder, 'go');
});
afterEach(() => box.close());

/** A `cmo run` whose agent works by now, and the dispatch that it made. */
async function running(prompt: string): Promise<{ client: Started; id: string }> {
  const client = box.start(['run', '--pin', 'codex'], { input: prompt });
  const [start] = await waitUntil(() => (box.ledger().length > 0 ? box.ledger() : null), { what: 'the agent to run' });
  return { client, id: start?.attempt.split('.')[0] ?? '' };
}

async function goesOn(id: string): Promise<void> {
  expect(box.ledger()).toHaveLength(1);
  writeFileSync(go, '');
  const { code, stdout } = await box.cmo(['wait', id]);
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as Envelope).result).toContain('went on');
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
  expect(await problemsAtRest(box, [id])).toEqual([]);
}

test('a cmo run that is killed by SIGKILL leaves its agent at work, and cmo wait has the answer', async () => {
  const { client, id } = await running(untilThere(go, 'went on'));
  client.child.kill('SIGKILL');
  expect(await client.ended).toMatchObject({ signal: 'SIGKILL' });
  await goesOn(id);
});

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s detaches cmo run: it says how to wait for it, and its agent goes on', async (name, code) => {
  const { client, id } = await running(untilThere(go, 'went on'));
  client.child.kill(name);
  const ran = await client.ended;
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(`cmo wait ${id}`);
  await goesOn(id);
});

test('Ctrl-C cancels cmo run and ends its whole tree, strays that ignore TERM too', async () => {
  const strays = `${STAND_INS}forks-a-setsid-stray; ${STAND_INS}leaves-strays-in-its-group; sleep 2000000`;
  const { client, id } = await running(`[[sim:tool cmd="${strays}"]]`);
  // Two strays that carry the mark and one that has no environment, beside the agent's own sleep.
  const sleeping = (): number[] =>
    processesOf(box.folder).flatMap(({ pid, command }) => (/^sleep [12]000000$/.test(command) ? [pid] : []));
  await waitUntil(() => sleeping().length === 4, { what: 'the strays' });
  client.child.kill('SIGINT');
  const ran = await client.ended;
  expect(ran.code).toBe(130);
  expect(ran.stderr).toContain(`cancelling ${id}`);
  expect(ran.stderr).toContain(`${id} cancelled`);
  expect(JSON.parse(ran.stdout)).toMatchObject({ dispatchId: id, ok: false, state: 'cancelled' });

  expect(sleeping()).toEqual([]);
  expect(await problemsAtRest(box, [id])).toEqual([]);
  expect(box.linesOf(id)).toMatchObject([{ outcome: 'cancelled' }, { kind: 'dispatch', state: 'cancelled' }]);
});

test('Ctrl-C while it waits in the line cancels it there: its agent is never started', async () => {
  await box.close();
  box = openFlow({ config: { slots: { account: 1, node: 8, dark: 1 } } });
  go = join(box.folder, 'go');
  const first = await box.submit(untilThere(go, 'went on'), '--pin', 'codex');
  await waitUntil(() => box.ledger().length === 1, { what: 'the first agent to run' });
  const client = box.start(['run', '--pin', 'codex'], { input: 'second' });
  const waiting = await waitUntil(async () => (await box.ls('--state', 'queued'))[0], { what: 'the second to wait' });
  client.child.kill('SIGINT');
  const ran = await client.ended;
  expect(ran.code).toBe(130);
  expect(box.linesOf(waiting.id)).toMatchObject([{ kind: 'dispatch', state: 'cancelled', attempts: 0 }]);
  writeFileSync(go, '');
  expect(await box.wait(first)).toMatchObject({ ok: true });
  expect(await problemsAtRest(box, [first, waiting.id])).toEqual([]);
  expect(box.starts()).toEqual({ [`${first}.1`]: 1 });
});
