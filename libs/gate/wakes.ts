import type { Redis } from 'ioredis';
import { keys, listen } from '#store';

/**
 * The wakes of this process: one subscriber connection, one number per account.
 *
 * A worker reads the number BEFORE it asks the gate. If a wake comes between the refusal and its sleep, the number has
 * moved and it does not sleep. (Reading it after the refusal missed such wakes.)
 */
export interface Wakes {
  number(account: string): number;
  /** Resolves on the next wake of the account, after `ms`, or when the signal aborts. */
  sleep(account: string, since: number, ms: number, signal: AbortSignal): Promise<void>;
  /** A wake made by this process itself: nothing is sent. Of one name, or of all. */
  local(name?: string): void;
  close(): Promise<void>;
}

export async function openWakes(redis: Redis): Promise<Wakes> {
  // An account is in `numbers` from the first time its number is read: a wake of all must move that number too.
  const numbers = new Map<string, number>();
  const sleepers = new Map<string, Set<() => void>>();
  const bump = (account: string): void => {
    numbers.set(account, (numbers.get(account) ?? 0) + 1);
    for (const rise of sleepers.get(account) ?? []) rise();
  };
  const all = (): void => {
    for (const account of [...numbers.keys()]) bump(account);
  };
  const number = (account: string): number => {
    const known = numbers.get(account);
    if (known === undefined) numbers.set(account, 0);
    return known ?? 0;
  };
  // Messages are lost while Redis is away: being back counts as one wake for everybody.
  const listening = await listen(redis, 'wakes', keys.channels.wake, bump, all);

  return {
    number,
    sleep(account, since, ms, signal) {
      if (signal.aborted || number(account) !== since) return Promise.resolve();
      return new Promise((resolve) => {
        const set = sleepers.get(account) ?? new Set();
        sleepers.set(account, set);
        const rise = (): void => {
          clearTimeout(timer);
          set.delete(rise);
          signal.removeEventListener('abort', rise);
          resolve();
        };
        const timer = setTimeout(rise, ms);
        set.add(rise);
        signal.addEventListener('abort', rise);
      });
    },
    local: (name) => (name === undefined ? all() : bump(name)),
    async close() {
      listening.close();
      await Promise.resolve();
    },
  };
}
