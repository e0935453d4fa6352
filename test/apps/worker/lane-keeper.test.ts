import { Worker as BullWorker } from 'bullmq';
import { afterEach, expect, test, vi } from 'vitest';
import { healthOf } from '#worker/health';
import { laneKeeper, type Fetcher } from '#worker/lane-keeper';
import { openBox, type Box } from '../../support/box.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Begins workers that do nothing, and hands out their signs. */
function maker(): { make: (sign: () => void) => Fetcher; signs: (() => void)[]; closed: number[] } {
  const signs: (() => void)[] = [];
  const closed: number[] = [];
  return {
    signs,
    closed,
    make(sign) {
      const number = signs.push(sign) - 1;
      // One that is stuck may never end.
      return {
        close: () => (closed.push(number), new Promise(() => undefined)),
        waitUntilReady: () => Promise.resolve(),
      };
    },
  };
}

test('a queue worker that gives no sign is replaced at the second look, counted, and not waited for', async () => {
  const { make, signs, closed } = maker();
  const keeper = laneKeeper(30, { answersMs: () => Infinity }, quiet);
  await keeper.serve('lane@box', make);
  await sleep(40);
  await keeper.look();
  expect(signs).toHaveLength(1);
  await keeper.look();
  expect(signs).toHaveLength(2);
  expect(closed).toEqual([0]);
  expect(keeper.states()).toMatchObject([{ queue: 'lane@box', deaf: false, replaced: 1 }]);
});

test('a sign between two looks clears it: a process that was stopped and goes on has done nothing wrong', async () => {
  const { make, signs } = maker();
  const keeper = laneKeeper(30, { answersMs: () => Infinity }, quiet);
  await keeper.serve('lane@box', make);
  await sleep(40);
  await keeper.look();
  signs[0]?.();
  await keeper.look();
  await keeper.look();
  expect(signs).toHaveLength(1);
});

test('while Redis is away, and just after, no queue worker counts as deaf', async () => {
  const { make, signs } = maker();
  let answers = 0;
  const keeper = laneKeeper(30, { answersMs: () => answers }, quiet);
  await keeper.serve('lane@box', make);
  await sleep(40);
  for (answers of [0, 29]) {
    await keeper.look();
    await keeper.look();
  }
  expect(signs).toHaveLength(1);
});

test('health blames Redis alone while that is away, then names each deaf queue and each round that stands still', () => {
  const lanes = [
    { queue: 'a@box', silentMs: 31_000, deaf: true, replaced: 0 },
    { queue: 'b@box', silentMs: 10, deaf: false, replaced: 2 },
  ];
  const rounds = { 'the scan': { sinceRound: () => 61_000 }, 'the sweeper': { sinceRound: () => 5 } };
  expect(healthOf({ awayMs: () => 1_500, answersMs: () => 0 }, lanes, rounds).problems).toEqual([
    'Redis has not answered for 1.5 s',
  ]);
  expect(healthOf({ awayMs: () => null, answersMs: () => 90_000 }, lanes, rounds).problems).toEqual([
    'the worker of a@box has asked for no ticket for 31.0 s',
    'the scan has not come round for 61.0 s',
  ]);
  expect(healthOf({ awayMs: () => null, answersMs: () => 20_000 }, [], rounds).problems).toEqual([]);
});

let box: Box | null = null;
afterEach(async () => {
  vi.restoreAllMocks();
  await box?.close();
  box = null;
});

test('a worker whose loop stands still for ever is found by that, and its queue is served again without a person', async () => {
  box = await openBox({ timing: { wakeFallbackMs: 200, heartbeatMs: 100 } });
  // What a lost answer in a bounce did to older versions of BullMQ:
  // its wait for a ticket never ends. Of the first worker only.
  const wait = vi
    .spyOn(BullWorker.prototype as unknown as { waitForJob(until: number): Promise<number> }, 'waitForJob')
    .mockImplementationOnce(() => new Promise(() => undefined));
  const worker = await box.start();
  await waitUntil(() => wait.mock.calls.length > 0);
  const stuck = await waitUntil(() => worker.health().lanes.find(({ silentMs }) => silentMs > 2_000), {
    what: 'a queue to fall silent',
  });
  const lane = stuck.queue.split('@')[0] ?? '';
  const id = await box.submit('[[sim:echo]]', { lane });
  expect(await box.ended(id)).toMatchObject({ state: 'succeeded' });
  expect(worker.health().lanes.find(({ queue }) => queue === stuck.queue)).toMatchObject({ deaf: false, replaced: 1 });
  expect(worker.health().lanes.filter(({ replaced }) => replaced > 0)).toHaveLength(1);
});
