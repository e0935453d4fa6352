import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#api';
import type { RedisFound } from './private-redis.js';

/**
 * Keeps the private Redis up while the daemon lives: a connection that closed makes it look, and start one again when
 * none is left. Connections of the same socket come back by themselves.
 *
 *   resting ──kick──▶ looking ──found──▶ resting
 *                       └──failed──▶ looking again after a pause
 */
export type RedisKeeper = { kick(): void; stop(): Promise<void> };

const PAUSES_MS = [200, 1_000, 5_000];

export function keepRedis(
  ensure: () => Promise<RedisFound>,
  log: Log,
  found: (redis: { pid: number; started: boolean }) => void,
): RedisKeeper {
  const stopped = new AbortController();
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    for (let tries = 0; !stopped.signal.aborted; tries++) {
      const result = await ensure();
      if (result.ok) {
        found(result.redis);
        return;
      }
      log.error({ code: result.error.code, details: result.error.details ?? [] }, result.error.message);
      await delay(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)], undefined, { signal: stopped.signal }).catch(
        () => undefined,
      );
    }
  }

  return {
    kick() {
      if (stopped.signal.aborted) return;
      looking ??= look()
        .catch((error: unknown) => log.error({ err: error }, 'looking after Redis failed'))
        .finally(() => (looking = null));
    },
    async stop() {
      stopped.abort();
      await looking;
    },
  };
}
