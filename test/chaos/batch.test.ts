import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { END_STATES, type BatchData, type ErrorBody } from '#contract';
import { keys, queueName } from '#store';
import { openFlow, type FlowBox } from '../flows/flow-box.js';
import { problemsAtRest } from '../flows/oracle.js';
import { signal } from '../support/processes.js';
import { oneOf, POINTS, SEED, seeded } from '../support/seeded.js';
import { waitUntil } from '../support/wait-until.js';
import { jitter } from './work.js';

let box: FlowBox;
afterEach(() => box.close());

const CHILDREN = 30;
const SLOW = '[[sim:slow seconds=1.5]]';

type Child = { id: string };
/** What becomes of a child of the batch: what it is given to do, and what is done to it. */
const FATES: [Fate, ...Fate[]] = [
  { name: 'left alone', prompt: '[[sim:echo]]' },
  { name: 'fails', prompt: '[[sim:bad-request]]' },
  { name: 'ends its supervisor', prompt: '[[sim:kills who=supervisor]]' },
  { name: 'cancelled', prompt: SLOW, act: async ({ id }) => void (await box.cmo(['cancel', id])) },
  { name: 'agent killed', prompt: SLOW, act: ({ id }) => box.marked(id).forEach(({ pid }) => signal(pid, 'SIGKILL')) },
  {
    name: 'folder removed',
    prompt: SLOW,
    act: ({ id }) =>
      box
        .runFolders()
        .forEach(
          (run) =>
            run.id.startsWith(id) && run.where === 'runs' && rmSync(run.folder, { recursive: true, force: true }),
        ),
  },
];
/** Its ticket is missed when the sweeper comes round to it, which may take a minute. */
const AT_LENGTH: Fate = { name: 'ticket removed', prompt: '[[sim:echo]]', act: removeTicket };
type Fate = { name: string; prompt: string; act?: (child: Child, redis: Redis) => unknown };

/** As if somebody had tidied up in BullMQ: the job and its places in the lists are gone. */
async function removeTicket({ id }: Child, redis: Redis): Promise<void> {
  const node = box.settings().nodeId;
  for (const lane of ['codex', 'claude']) {
    const queue = `${keys.bull}:${queueName(lane, node)}`;
    for (const job of await redis.keys(`${queue}:${id}-*`)) {
      const ticket = job.slice(queue.length + 1);
      await redis
        .multi()
        .del(job)
        .zrem(`${queue}:prioritized`, ticket)
        .zrem(`${queue}:delayed`, ticket)
        .lrem(`${queue}:wait`, 0, ticket)
        .exec();
    }
  }
}

test(`a batch of ${CHILDREN} whose children fail, kill, are killed, cancelled and removed at random ends with a census that names each, for whoever waits; the death of one who waited changes nothing`, async () => {
  const random = seeded(SEED);
  box = openFlow({ config: { slots: { account: 3, node: 5, dark: 3 } } });
  const fates = Array.from({ length: CHILDREN }, () => oneOf(random, POINTS > 3 ? [...FATES, AT_LENGTH] : FATES));
  const file = join(box.work, 'night.jsonl');
  writeFileSync(
    file,
    fates.map(({ prompt }, n) => JSON.stringify({ prompt: `${n} ${prompt}`, role: 'research' })).join('\n'),
  );
  const told = `CMO_TEST_SEED=${SEED}: ${fates.map(({ name }) => name).join(', ')}`;
  console.log(`batch: ${told}`);
  const lost = box.start(['run', '--batch', file, '--batch-name', 'night', '--json']);
  const children = await waitUntil(
    async () => ((rows) => (rows.length === CHILDREN ? rows : null))(await box.ls('--batch', 'night').catch(() => [])),
    { what: 'the batch to be recorded', everyMs: 100 },
  );
  const waiting = box.start(['wait', '--batch', 'night', '--json']);
  const redis = box.redis();
  // In the order of the file, as the listing is newest first.
  const inOrder = [...children].sort((a, b) => (a.id < b.id ? -1 : 1));
  const due = inOrder
    .map((child, n) => ({ child, fate: fates[n] ?? FATES[0], turn: random() }))
    .sort((a, b) => a.turn - b.turn);
  const killAt = Math.floor(random() * due.length);
  const acts: unknown[] = [];
  for (const [n, { child, fate }] of due.entries()) {
    await jitter(random, 250);
    if (n === killAt) signal(lost.pid, 'SIGKILL');
    acts.push(fate.act?.(child, redis));
  }
  await Promise.all(acts);

  const { code, stdout } = await waiting.ended;
  const answer = JSON.parse(stdout) as { ok: boolean; data: BatchData; error?: ErrorBody };
  expect(code, told).toBe(6);
  expect(answer.data.census.total).toBe(CHILDREN);
  expect(answer.data.dispatches.map(({ dispatchId }) => dispatchId)).toEqual(inOrder.map(({ id }) => id));
  const states = answer.data.dispatches.map(({ state }) => state);
  for (const state of END_STATES)
    expect(answer.data.census[state], `${state}; ${told}`).toBe(states.filter((one) => one === state).length);
  expect(
    END_STATES.reduce((sum, state) => sum + answer.data.census[state], 0),
    told,
  ).toBe(CHILDREN);
  for (const [n, state] of states.entries()) {
    const may = {
      'left alone': ['succeeded'],
      fails: ['failed'],
      'ends its supervisor': ['failed'],
      cancelled: ['cancelled', 'succeeded'],
    }[fates[n]?.name ?? ''] ?? ['succeeded'];
    expect(may, `${fates[n]?.name ?? ''} ended ${state}; ${told}`).toContain(state);
  }
  expect(
    await problemsAtRest(
      box,
      inOrder.map(({ id }) => id),
    ),
    told,
  ).toEqual([]);
}, 120_000);
