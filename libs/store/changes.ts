import type { Redis } from 'ioredis';
import { keys } from './keys.js';

/** Messages of the record scripts, over one subscriber connection of its own. */
export interface Changes {
  /** The id of every dispatch whose record changed, in any process. Messages are lost while Redis is away: */
  on(listener: (id: string) => void): () => void;
  /** so whoever waits also looks again on every `again` (each time the subscription is made anew). */
  onAgain(listener: () => void): () => void;
  close(): Promise<void>;
}

export async function watchChanges(redis: Redis): Promise<Changes> {
  const subscriber = redis.duplicate({ connectionName: 'cmo:changes' });
  subscriber.on('error', () => {});
  const listeners = new Set<(id: string) => void>();
  const again = new Set<() => void>();
  subscriber.on('message', (_channel, id) => {
    for (const listener of listeners) listener(id);
  });
  subscriber.on('ready', () => {
    for (const listener of again) listener();
  });
  await subscriber.subscribe(keys.channels.changed);
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
      subscriber.disconnect();
      await Promise.resolve();
    },
  };
}
