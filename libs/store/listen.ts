import type { Redis } from 'ioredis';

/** One channel, over a connection of its own. */
export interface Listening {
  close(): void;
}

/**
 * @param again called each time the subscription has been made anew, and only then: messages sent while Redis was away
 *   are lost, so the listener has to look for itself. At `ready` it would be too early: what is sent between the look
 *   and the subscription would be missed. That is why ioredis must not resubscribe by itself.
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
