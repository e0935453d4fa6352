import { readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import type { SubmitData } from '#contract';
import { call } from '../apps/daemon/home.js';
import { processesWith } from '../support/processes.js';
import { newId } from '../support/records.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

const DISPATCHES = 300;

/** Of this box: those of others that run on the same machine come and go. */
function processes(): number {
  const ids = new Set(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number),
  );
  return processesWith()
    .filter(({ pid }) => ids.has(pid))
    .filter(({ mark }) => mine.has(mark.split('.')[0] ?? '')).length;
}
const mine = new Set<string>();

test(`after ${DISPATCHES} agents that each left three children of children, deaf to TERM and in sessions of their own, none is left; nor were there ever more than those at work`, async () => {
  box = openFlow({ config: { slots: { account: 12, node: 12, dark: 12 }, timing: { killGraceMs: 300 } } });
  await box.up();
  const prompts = Array.from({ length: DISPATCHES }, (_, n) =>
    n % 10 === 3 ? '[[sim:hang act=1]]' : '[[sim:strays count=3]]',
  );
  const dispatches = prompts.map((prompt, n) => ({
    id: newId(),
    prompt,
    cwd: box.work,
    env: { PATH: box.env['PATH'] ?? '', HOME: box.env['HOME'] ?? '' },
    readOnly: true,
    pin: n % 2 === 0 ? 'codex' : 'claude',
    failover: false,
    attempts: 1,
    ...(prompt.includes('hang') && { timeoutMs: 1_000 }),
  }));
  for (const { id } of dispatches) mine.add(id);
  const answer = await call<SubmitData>(box.paths.apiSocket, 'POST', '/v1/dispatches', { dispatches });
  expect(answer.ok).toBe(true);
  let most = 0;
  await waitUntil(
    async () => {
      most = Math.max(most, processes());
      const { queued, running, retrying } = (await box.status()).counts;
      return queued + running + retrying === 0;
    },
    { what: 'all to end', timeoutMs: 240_000, everyMs: 1_000 },
  );
  expect(await problemsAtRest(box, [...mine])).toEqual([]);
  expect(processes()).toBe(0);
  // Three strays, the shell that leaves them and two for the CLI, of each of those that may run at once.
  expect(most).toBeLessThanOrEqual(12 * 8);
  const ended = await box.ls();
  expect(ended.filter(({ state }) => state === 'timed_out')).toHaveLength(DISPATCHES / 10);
  expect(ended.filter(({ state }) => state === 'succeeded')).toHaveLength(DISPATCHES - DISPATCHES / 10);
}, 300_000);
