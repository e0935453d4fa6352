import type { LaneConfig } from '#contract';
import { ANY_NODE, keys, queueName } from '#store';
import { laneDoor } from './doorkeeper.js';
import type { LaneKeeper } from './lane-keeper.js';
import { laneWorker } from './lane-worker.js';
import type { NodeSlots } from './node-slots.js';
import { ticketOpener } from './open-ticket.js';
import type { LoginHold } from './prober/login-keeper.js';
import type { Meters } from './prober/meters.js';
import { rebalancer } from './rebalance.js';
import type { Refusal } from './decide-again.js';
import type { Resources } from './resources.js';
import type { Roster } from './roster.js';

/** Fetches from the queues of this node, and from those that every node serves. */
export interface QueueServer {
  serveOwn(): Promise<void>;
  /** Most boxes never have work for any node: those queues are served once the first of it was submitted. */
  serveAny(): Promise<void>;
  /** Begins to serve nothing more; the keeper closes what is served. */
  stop(): void;
}

type Parts = {
  resources: Resources;
  meters: Pick<Meters, 'hold' | 'isWaiting'>;
  slots: NodeSlots;
  roster: Roster;
  keeper: Pick<LaneKeeper, 'serve'>;
};

/** A login that has lapsed closes its lane on this box, as a refusal of the vendor would. */
const LAPSED_LOGIN: Refusal = { ok: false, reason: 'closed', window: 'auth', til: null, bare: true, event: null };

export function queueServer({ resources, meters, slots, roster, keeper }: Parts): QueueServer {
  const { redis, config } = resources;
  let servesAny = false;
  let stopped = false;

  function serve(lane: LaneConfig, home: string): Promise<void> {
    const queue = queueName(lane.id, home);
    const rebalance = rebalancer(resources, lane, queue);
    const held = async (): Promise<LoginHold | null> => {
      const hold = await meters.hold(lane);
      // Only with work to move: a pass over an empty line would count as the pass for the work that comes next.
      if (hold?.shut && (await meters.isWaiting(lane.account))) void rebalance(LAPSED_LOGIN);
      return hold;
    };
    const door = laneDoor(resources, lane, queue, slots, (refusal) => void rebalance(refusal), held);
    const open = ticketOpener(resources, lane, slots, roster);
    return keeper.serve(queue, (sign) => laneWorker(resources, lane, queue, door, open, sign));
  }

  return {
    async serveOwn() {
      await Promise.all(config.lanes.map((lane) => serve(lane, config.nodeId)));
    },
    async serveAny() {
      if (servesAny || stopped || (await redis.exists(keys.anyUsed)) === 0) return;
      // Another call may have come first while this one asked.
      if (servesAny || stopped) return;
      servesAny = true;
      await Promise.all(config.lanes.map((lane) => serve(lane, ANY_NODE)));
    },
    stop() {
      stopped = true;
    },
  };
}
