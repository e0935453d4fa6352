import type { HealthData } from '#contract';
import type { Pulse } from '#store';
import { within, STOP_BOUND_MS } from './every.js';
import type { Log } from './resources.js';

/** What is kept: BullMQ's worker, as far as this needs it. */
export type Fetcher = { close(force?: boolean): Promise<void>; waitUntilReady(): Promise<unknown> };

/**
 * The queue workers of this node, judged by what they do: one that no longer asks for tickets is replaced, whatever the
 * cause (a dead connection, a command lost in a failover, BullMQ's loop). A live loop asks the gate or waits for a
 * ticket, and does either every few seconds.
 *
 *   at work ──no sign for deafMs, and Redis answered all the time──▶ suspect ──none until the next look──▶ deaf: it is closed,
 *      ▲                                                               └──a sign──▶ at work                      another begins
 *      └───────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * Suspect first: after a process was stopped and continued, this look may come before any worker could give a sign.
 */
export interface LaneKeeper {
  /** @param make begins a worker; it calls `sign` whenever it asks, fetches or opens */
  serve(queue: string, make: (sign: () => void) => Fetcher): Promise<void>;
  /** Replaces those that are deaf. */
  look(): Promise<void>;
  states(): HealthData['lanes'];
  close(): Promise<void>;
}

type Kept = {
  queue: string;
  make: (sign: () => void) => Fetcher;
  fetcher: Fetcher;
  signAt: number;
  /** The sign that the last look found too old; null: none. */
  suspect: number | null;
  replaced: number;
};

export function laneKeeper(deafMs: number, pulse: Pick<Pulse, 'answersMs'>, log: Log): LaneKeeper {
  const now = (): number => performance.now();
  const kept: Kept[] = [];
  /** Those that were given up: closed for as long as it takes, and not waited for. */
  const leaving = new Set<Promise<unknown>>();
  let closing = false;

  const begin = (one: Pick<Kept, 'queue' | 'make' | 'replaced'>): Kept => {
    const here: Kept = {
      ...one,
      signAt: now(),
      suspect: null,
      fetcher: { close: () => Promise.resolve(), waitUntilReady: () => Promise.resolve() },
    };
    here.fetcher = one.make(() => {
      here.signAt = now();
    });
    return here;
  };
  const isSilent = ({ signAt }: Kept): boolean => Math.min(now() - signAt, pulse.answersMs()) >= deafMs;
  const isDeaf = (one: Kept): boolean => one.suspect === one.signAt && isSilent(one);

  return {
    async serve(queue, make) {
      const one = begin({ queue, make, replaced: 0 });
      kept.push(one);
      await one.fetcher.waitUntilReady();
    },
    async look() {
      for (const [at, one] of kept.entries()) {
        if (closing) return;
        if (!isDeaf(one)) {
          one.suspect = isSilent(one) ? one.signAt : null;
          continue;
        }
        log.error(
          { queue: one.queue, silentMs: Math.round(now() - one.signAt), replaced: one.replaced + 1 },
          'a queue worker asked for no ticket any more although Redis answers: another takes its place',
        );
        kept[at] = begin({ queue: one.queue, make: one.make, replaced: one.replaced + 1 });
        const left = one.fetcher.close(true).catch(() => undefined);
        leaving.add(left);
        void left.then(() => leaving.delete(left));
      }
      await Promise.resolve();
    },
    states: () =>
      kept.map((one) => ({
        queue: one.queue,
        silentMs: Math.round(now() - one.signAt),
        deaf: isDeaf(one),
        replaced: one.replaced,
      })),
    async close() {
      closing = true;
      await within(STOP_BOUND_MS, Promise.all([...kept.map(({ fetcher }) => fetcher.close()), ...leaving]));
    },
  };
}
