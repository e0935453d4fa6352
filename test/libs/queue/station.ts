import { WaitingError, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { attemptId, type Config, type DispatchRecord } from '#contract';
import { laneCost, openGate, openWakes, type Gate, type Wakes } from '#gate';
import { openTransitions, type Doorkeeper, type TicketData } from '#queue';
import { openRecords, queueName } from '#store';
import { laneDoor } from '#worker/doorkeeper';
import { laneWorker } from '#worker/lane-worker';
import { nodeSlots, type NodeSlots } from '#worker/node-slots';
import { laneOf } from '../../support/records.js';

/** The gated worker of one lane as the worker builds it, with a ticket opener that starts nothing but the record. */
export type Station = {
  worker: Worker<TicketData>;
  gate: Gate;
  wakes: Wakes;
  slots: NodeSlots;
  /** Attempts that this worker has started, in order. */
  started: string[];
  /** Reasons of the gate's refusals, in order. */
  refusals: string[];
  close(): Promise<void>;
};

export type StationOptions = {
  config: Config;
  lane?: string;
  node?: string;
  /** Before the record is read; the ticket is fetched and its token held. `refusals` so far. */
  fetched?: (id: string, refusals: readonly string[]) => Promise<void>;
  cost?: (record: DispatchRecord) => Record<string, number>;
  door?: (inner: Doorkeeper, wakes: Wakes) => Doorkeeper;
};

let nonces = 0;

/** @param redis the caller's own connection; the worker makes the others from it */
export async function openStation(
  redis: Redis,
  {
    config,
    lane: laneId = 'codex',
    node = config.nodeId,
    fetched,
    cost,
    door: wrap = (inner) => inner,
  }: StationOptions,
): Promise<Station> {
  const lane = laneOf(config, laneId);
  const queue = queueName(laneId, config.nodeId);
  const gate = openGate(redis, config);
  const wakes = await openWakes(redis);
  const records = openRecords(redis);
  const transitions = openTransitions(redis, config);
  const started: string[] = [];
  const refusals: string[] = [];
  const slots = nodeSlots(
    () => config.slots.node,
    () => 0,
    () => wakes.local(),
  );
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const door = laneDoor(
    { gate, wakes, config, clock: Date.now, node },
    lane,
    queue,
    slots,
    ({ reason }) => refusals.push(reason),
    () => Promise.resolve(null),
  );

  const worker = laneWorker({ redis, config, log }, lane, queue, wrap(door, wakes), async (job, token) => {
    const { id, attempt } = job.data;
    await fetched?.(id, refusals);
    const record = await records.read(id);
    nonces += 1;
    const answer =
      record?.attempt === attempt
        ? await transitions.start({
            record,
            node,
            nonce: `${process.pid}-${nonces}`,
            token,
            cost: cost?.(record) ?? laneCost(lane),
            ttlMs: 60_000,
          })
        : null;
    if (answer?.answer === 'yes') {
      slots.becomeRun();
      started.push(attemptId(id, attempt));
      return;
    }
    await door.giveBack(token);
    if (answer?.answer !== 'lapsed') return;
    await job.moveToWait(token);
    throw new WaitingError();
  });
  await worker.waitUntilReady();
  return {
    worker,
    gate,
    wakes,
    slots,
    started,
    refusals,
    async close() {
      await worker.close();
      await wakes.close();
    },
  };
}
