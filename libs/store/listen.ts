import type { Redis } from 'ioredis';

/** One channel, over a connection of its own. */
export interface Listening {
  close(): void;
}

/**
 * @param again called each time the subscription stands anew,
 * and only then: messages sent while Redis was away are lost,
 *   so whoever listens looks for itself. Called at `ready` it would come too early: what is sent between the look and the
 *   subscription would be missed, hence no automatic resubscribing.
 */
export async function listen(
  redis: Redis,
  name: string,
  channel: string,
  message: (text: string) => void,
  again: () => void,
): Promise<Listening> {
  const subscriber = redis.duplicate({ connectionName: `cmo:${name}`, autoResubscribe: false });
  // Without a listener ioredis prints to the console.
  subscriber.on('error', () => {});
  subscriber.on('message', (_channel, text) => message(text));
  await subscriber.subscribe(channel);
  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(again, () => {});
  });
  return { close: () => subscriber.disconnect() };
}
