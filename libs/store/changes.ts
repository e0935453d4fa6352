import type { Redis } from 'ioredis';
import { keys } from './keys.js';
import { listen } from './listen.js';

/** Messages of the record scripts, over one subscriber connection of its own. */
export interface Changes {
  /** The id of every dispatch whose record changed, in any process. Messages are lost while Redis is away. */
  on(listener: (id: string) => void): () => void;
  /** Called each time the subscription has been made anew: look again, messages may have been lost. */
  onAgain(listener: () => void): () => void;
  close(): Promise<void>;
}

export async function watchChanges(redis: Redis): Promise<Changes> {
  const listeners = new Set<(id: string) => void>();
  const again = new Set<() => void>();
  const listening = await listen(
    redis,
    'changes',
    keys.channels.changed,
    (id) => {
      for (const listener of listeners) listener(id);
    },
    () => {
      for (const listener of again) listener();
    },
  );
  return {
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onAgain(listener) {
      again.add(listener);
      return () => again.delete(listener);
    },
    async close() {
      listeners.clear();
      again.clear();
      listening.close();
      await Promise.resolve();
    },
  };
}
