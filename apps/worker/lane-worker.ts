import { Worker, type Job } from 'bullmq';
import type { LaneConfig } from '#contract';
import { gatedBackend, type Doorkeeper, type TicketData } from '#queue';
import { keys } from '#store';
import type { Resources } from './resources.js';

/** Tickets opened at once per lane. Running agents are limited by the gate's slots and the node's, not by this. */
const TICKETS_AT_ONCE = 4;

/** The gated BullMQ worker of one lane on this node. */
export function laneWorker(
  { redis, config, log }: Pick<Resources, 'redis' | 'config' | 'log'>,
  lane: LaneConfig,
  queue: string,
  door: Doorkeeper,
  open: (job: Job<TicketData>, token: string) => Promise<void>,
  /** Called whenever its loop has come round: see lane-keeper.ts. */
  sign: () => void = () => {},
): Worker<TicketData> {
  const { lockMs, stalledMs, wakeFallbackMs } = config.timing;
  const watched: Doorkeeper = {
    async admit(token) {
      const admission = await door.admit(token);
      sign();
      return admission;
    },
    giveBack: (token) => door.giveBack(token),
  };
  const worker = new Worker<TicketData>(
    queue,
    async (job, token) => {
      await open(job, token ?? '').finally(sign);
    },
    {
      connection: redis,
      prefix: keys.bull,
      name: `cmo:${lane.id}`,
      concurrency: TICKETS_AT_ONCE,
      // Short: a ticket whose worker died is taken up after lock + check; 30 s + 30 s are the defaults.
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      // The record decides how often an attempt may start; over BullMQ's count a ticket fails without being looked at.
      maxStalledCount: 1_000_000,
      // 15 s by default: after a connection error in a fetch the worker would be deaf that long.
      runRetryDelay: 200,
      // Seconds. As a refused worker looks again, so does one that found nothing.
      drainDelay: Math.min(Math.max(wakeFallbackMs / 1_000, 1), 5),
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      // Without it a worker was seen to sleep past its first ticket (6.7.0; not met again in 5,000 starts). With it
      // BullMQ waits by whole seconds, so a retry starts up to 1 s late.
      skipVersionCheck: true,
    },
    gatedBackend(watched),
  );
  // Both of its connections say so at each of their tries, twice a second for as long as Redis is away: the log counts.
  worker.on('error', ({ message }) => log.warn({ lane: lane.id, error: message }, 'queue worker'));
  return worker;
}
