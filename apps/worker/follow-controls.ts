import type { Redis } from 'ioredis';
import { thrownMessage, type Config } from '#contract';
import { openControls, slotsOf } from '#gate';
import { keys, listen } from '#store';
import type { Log } from './resources.js';

/** The one control that this process applies itself: how many agents this node may run at once. */
export interface FollowedControls {
  nodeSlots(): number;
  read(): Promise<void>;
  close(): void;
}

/**
 * @param heard called each time it was read
 * @param raised called when the bound may have been raised: work that found the node full asks again
 */
export async function followControls(
  redis: Redis,
  config: Config,
  raised: () => void,
  heard: () => void,
  log: Log,
): Promise<FollowedControls> {
  const controls = openControls(redis, config);
  let atOnce = config.slots.node;
  const read = async (): Promise<void> => {
    const was = atOnce;
    atOnce = slotsOf(await controls.read(), 'node', config.nodeId, config.slots.node);
    if (atOnce > was) raised();
    heard();
  };
  const quietly = (): void => {
    // The next heartbeat reads again.
    read().catch((error: unknown) =>
      log.warn({ error: thrownMessage(error) }, 'what persons have said could not be read'),
    );
  };
  const listening = await listen(redis, 'controls', keys.channels.control, quietly, quietly);
  await read();
  return { nodeSlots: () => atOnce, read, close: () => listening.close() };
}
