import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { attemptId, type DispatchRecord } from '#contract';
import { laneCost } from '#gate';
import type { StartAnswer, TicketData } from '#queue';
import { ticketOpener } from '#worker/open-ticket';
import type { Resources } from '#worker/resources';
import { makeRoster } from '#worker/roster';
import { workPlaces } from '#worker/work-places';
import { auditGate } from '../../support/audit.js';
import { laneOf, testConfig, testRecord } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { desk, redis, useDesk } from '../../libs/queue/own-desk.js';

const STAND_INS = new URL('../../fixtures/bin', import.meta.url).pathname;
const config = testConfig();
useDesk(config);

let given: number;
let tended: number;
let record: DispatchRecord;
beforeEach(async () => {
  given = tended = 0;
  await desk.meter(10);
  const made = testRecord(config, { lane: 'codex' });
  const cwd = tempFolder('work');
  const [submitted] = await desk.queue.submit([
    {
      record: { ...made, request: { ...made.request, cwd } },
      blobs: { prompt: 'p', schema: null, env: JSON.stringify({ PATH: `${STAND_INS}:/usr/bin:/bin`, HOME: cwd }) },
    },
  ]);
  if (!submitted) throw new Error('nothing was submitted');
  record = submitted;
});

/** Opens the ticket of the record under a reserved token; its start script is answered so. */
async function open(answer: StartAnswer | null): Promise<{ back: number; opening: boolean; moved: number }> {
  const state = tempFolder('opener');
  mkdirSync(join(state, 'runs'));
  const transitions = Object.assign(Object.create(desk.transitions) as typeof desk.transitions, {
    start: (step: Parameters<typeof desk.transitions.start>[0]) =>
      answer ? Promise.resolve(answer) : desk.transitions.start(step),
  });
  const resources = {
    redis,
    config,
    gate: desk.gate,
    records: desk.records,
    transitions,
    tickets: desk.tickets,
    folders: { runs: join(state, 'runs'), receipts: join(state, 'receipts'), blobs: join(state, 'blobs') },
    costs: { costsOf: laneCost },
    places: workPlaces(() => undefined),
    environment: {},
    node: config.nodeId,
    log: { info() {}, warn() {}, error() {} },
    clock: Date.now,
    random: Math.random,
  } as unknown as Resources;
  const slots = { giveBack: () => (given += 1), becomeRun: () => undefined } as never;
  const roster = makeRoster(
    ({ id, attempt }) => {
      tended += 1;
      const over = Promise.resolve();
      return { dispatch: id, attempt, started: over, done: over, cancel() {}, kill: () => over, letGo() {} };
    },
    () => undefined,
  );
  let moved = 0;
  const job = {
    data: { id: record.id, attempt: record.attempt } as TicketData,
    moveToWait: async () => void (moved += 1),
  };
  await desk.reserve('t');
  await ticketOpener(resources, laneOf(config, 'codex'), slots, roster)(job as never, 't').catch(() => undefined);
  return { back: given, opening: roster.isOpening(attemptId(record.id, record.attempt)), moved };
}

test('a ticket whose record runs its attempt has its place of the node, and keeps it', async () => {
  expect(await open(null)).toEqual({ back: 0, opening: false, moved: 0 });
  expect(tended).toBe(1);
  expect(await desk.read(record.id)).toMatchObject({ state: 'running', attempt: 1 });
});

test.each<[string, StartAnswer, number]>([
  ['the record has gone on while it was opened', { answer: 'stale', state: 'running' }, 0],
  ['its token has lapsed, which puts it back into the line', { answer: 'lapsed' }, 1],
])('a ticket that starts nothing gives all of its place back, once: %s', async (_why, answer, moves) => {
  expect(await open(answer)).toEqual({ back: 1, opening: false, moved: moves });
  expect(tended).toBe(0);
  expect((await desk.gate.snapshot('codex')).reservations).toEqual([]);
  expect((await auditGate(redis, 'codex')).problems).toEqual([]);
});
