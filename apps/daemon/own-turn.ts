import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#api';
import type { Paths } from '#config';
import { askShutdown } from './client/ask-shutdown.js';
import { lookForDaemon } from './client/look-for-daemon.js';

/**
 * The daemon of a service is the one that stays: what a command has started hands over to it, while another service's
 * is waited for (the two would else take the place from each other for ever).
 *
 *   none ─▶ our turn      ready ─▶ asked to hand over ─▶ look again      starting, stopping, a service's ─▶ look again
 *
 * @returns false: we were told to stop before it was our turn
 */
export async function ownTurn(paths: Paths, log: Log, stop: AbortSignal): Promise<boolean> {
  let told = false;
  for (let pause = 50; !stop.aborted; pause = Math.min(pause * 2, 2_000)) {
    const seen = await lookForDaemon(paths);
    if (seen.kind === 'none') return true;
    if (!told)
      log.info(
        { pid: seen.daemon.pid, ...('version' in seen && { version: seen.version }) },
        'another daemon is at work: it is asked to hand over, or waited for',
      );
    told = true;
    if (seen.kind === 'ready' && seen.serviceProgram === null)
      await askShutdown(seen.socket, { kill: false, keepRedis: true });
    await delay(pause, undefined, { signal: stop }).catch(() => undefined);
  }
  return false;
}
