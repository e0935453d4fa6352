import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorker } from '#worker';
import { makeRoster } from '../../../apps/worker/roster.js';
import type { Tender } from '../../../apps/worker/tender.js';
import { openBox, type Box } from '../../support/box.js';
import { processesWith } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 60_000, killGraceMs: 1_000 } });
});
afterEach(() => box.close());

test('a cancel that comes while a ticket is opened is heard by the tender that takes over', () => {
  const asked: (boolean | undefined)[] = [];
  const tender = { dispatch: 'd', attempt: 1, done: new Promise(() => {}) } as unknown as Tender;
  const roster = makeRoster(
    (run) => {
      asked.push(run.cancelAsked);
      return tender;
    },
    () => {},
  );
  const opening = roster.open('d', 1);
  const other = roster.open('other', 1);
  expect(roster.isOpening('d.1')).toBe(true);
  roster.cancel('d');
  roster.tend({ id: 'd', attempt: 1, folder: '/none', adopted: false, cancelAsked: opening.cancelAsked });
  expect(asked).toEqual([true]);
  expect(other.cancelAsked).toBe(false);
  roster.close(opening);
  roster.close(other);
  expect(roster.isOpening('d.1')).toBe(false);
});

test('a cancel between the word of the record and the start of the process starts nothing', async () => {
  // A connection on which the answer to a start comes late: the cancel is asked, and told to the worker, before it.
  const redis = box.server.client();
  for (const command of ['evalsha', 'eval'] as const) {
    const send = redis[command].bind(redis) as (...args: unknown[]) => Promise<unknown>;
    const late = async (...args: unknown[]): Promise<unknown> => {
      const answer = await send(...args);
      if (typeof answer === 'string' && answer.includes('"answer":"yes"')) {
        const { id } = JSON.parse(String(args.at(-1))) as { id: string };
        expect(await box.queue.cancel(id)).toMatchObject({ how: 'asked' });
        await delay(100);
      }
      return answer;
    };
    Object.assign(redis, { [command]: late });
  }
  const quiet = { info() {}, warn() {}, error() {} };
  const worker = await startWorker({
    redis,
    log: quiet,
    nodeProgram: null,
    config: box.config,
    stateDir: box.stateDir,
  });
  const id = await box.submit('[[sim:hang]]');
  expect((await box.ended(id)).state).toBe('cancelled');
  const lines = await waitUntil(() => (box.receipts().length > 0 ? box.receipts() : null));
  expect(lines).toMatchObject([{ kind: 'dispatch', id, attempts: 0 }]);
  expect(box.starts()).toEqual({});
  expect(processesWith(`${id}.1`)).toEqual([]);
  await worker.stop({ kill: true });
});

test('a cancel that came while no worker was here ends the agent as soon as it is adopted', async () => {
  const first = await box.start();
  const id = await box.submit('[[sim:slow seconds=40]]', { lane: 'codex', access: 'read' });
  await box.until(id, 'running');
  await waitUntil(() => processesWith().some(({ mark }) => mark === `${id}.1`), { what: 'its agent to work' });
  await first.stop({ kill: false });
  expect(await box.queue.cancel(id)).toMatchObject({ how: 'asked' });
  await box.start();
  expect((await box.ended(id)).state).toBe('cancelled');
  expect(processesWith().filter(({ mark }) => mark === `${id}.1`)).toEqual([]);
});
