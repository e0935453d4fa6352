import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorBody, type ErrorBody } from '#contract';
import type { Paths } from '#config';
import { isAlive } from '#runner/process-identity';
import { redisPlaceOf, REDIS_PATIENCE } from '../redis/place.js';
import { stopPrivateRedis } from '../redis/private-redis.js';
import { askShutdown } from './ask-shutdown.js';
import { lookForDaemon } from './look-for-daemon.js';

export type Stopped =
  | {
      ok: true;
      /** Pid of the daemon that was stopped; null: none ran. */
      pid: number | null;
    }
  | { ok: false; error: ErrorBody };

const LEAVE_MS = 90_000;

/**
 * Takes the daemon down and waits until it has left: runs are handed over (or, with `kill`, their agents ended first),
 * its private Redis is stopped. A Redis that an earlier daemon left behind is stopped as well.
 */
export async function stopDaemon(paths: Paths, options: { kill: boolean; leaveMs?: number }): Promise<Stopped> {
  const { kill, leaveMs = LEAVE_MS } = options;
  const until = performance.now() + leaveMs;
  let pid: number | null = null;
  for (let asked = false; ;) {
    const seen = await lookForDaemon(paths);
    if (seen.kind === 'none') break;
    pid = seen.daemon.pid;
    if (seen.kind === 'ready' && !asked) asked = await askShutdown(seen.socket, { kill, keepRedis: false });
    // A stopping daemon has given its lock away a moment before its process is gone.
    for (let looks = 0; looks < 10 && isAlive(seen.daemon); looks++) await delay(20);
    if (performance.now() > until) {
      const details = [
        `pid ${pid} ${asked ? 'was asked to leave and is still there' : 'does not answer'}`,
        `its log is ${join(paths.logs, 'daemon.log')}`,
      ];
      return { ok: false, error: errorBody('CMO_E_DAEMON', 'the daemon did not leave', { details }) };
    }
  }
  if (!(await stopPrivateRedis(redisPlaceOf(paths), REDIS_PATIENCE)))
    return { ok: false, error: errorBody('CMO_E_REDIS', 'the private Redis did not leave') };
  return { ok: true, pid };
}
