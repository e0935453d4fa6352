import { thrownMessage } from '#contract';
import type { Log } from './resources.js';

export interface Repeated {
  /** Runs it now, after the one that is under way. */
  now(): Promise<void>;
  /** Since it last came round, done or failed, ms. */
  sinceRound(): number;
  stop(): Promise<void>;
}

/** Upkeep may stand in a command that Redis doesn't answer; whatever it does may be broken off and repeated, ms. */
export const STOP_BOUND_MS = 3_000;

/** Resolves with the work, or when the time is over: the work itself goes on. @returns whether it was done in time */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}

/** Repeats a piece of upkeep, never twice at once; a failure is logged and the next turn tries again. */
export function every(ms: number, name: string, work: () => Promise<unknown>, log: Log): Repeated {
  let stopped = false;
  let current: Promise<void> = Promise.resolve();
  let roundAt = performance.now();
  const turn = (): Promise<void> => {
    current = current.then(async () => {
      if (stopped) return;
      try {
        await work();
      } catch (error) {
        if (!stopped) log.warn({ error: thrownMessage(error) }, `${name} failed; it is tried again`);
      }
      roundAt = performance.now();
    });
    return current;
  };
  const timer = setInterval(() => void turn(), ms);
  return {
    now: turn,
    sinceRound: () => performance.now() - roundAt,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await within(STOP_BOUND_MS, current);
    },
  };
}
