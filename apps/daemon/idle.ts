import type { Api, Log } from '#api';
import type { ApiSocket } from './api-socket.js';
import type { Life } from './life.js';

/**
 * Stops a daemon once nothing has waited or run anywhere for `idleMs` without a break. When Redis is away and can't be
 * asked, that counts as busy.
 *
 *   watching ──idle for idleMs──▶ closing the door ──still nothing──▶ the daemon leaves
 *       ▲                               └──work came in just before──┐
 *       └────────────────────────── door open again ◀────────────────┘
 */
export type IdleParts = {
  life: Pick<Life, 'stop'>;
  socket: Pick<ApiSocket, 'open' | 'pause'>;
  api: Pick<Api, 'drained'>;
  log: Log;
  idleMs: number;
  isBusy(): Promise<boolean>;
};

export function stopWhenIdle({ life, socket, api, log, idleMs, isBusy }: IdleParts): { stop(): void } {
  const leave = (): void => void life.stop({ kill: false, keepRedis: false, why: 'nothing waits or runs' });
  const busy = (): Promise<boolean> => isBusy().catch(() => true);
  let since = performance.now();
  let looking = false;

  async function look(): Promise<void> {
    if (await busy()) since = performance.now();
    if (performance.now() - since < idleMs) return;
    await socket.pause();
    await api.drained();
    // A request that came in before the door was closed may have been recorded: look once more.
    if (!(await busy())) return leave();
    since = performance.now();
    await socket.open();
  }

  const timer = setInterval(
    () => {
      if (looking) return;
      looking = true;
      look()
        .catch((error: unknown) => {
          log.error({ err: error }, 'the api socket cannot be opened again');
          leave();
        })
        .finally(() => (looking = false));
    },
    Math.min(Math.max(idleMs / 10, 20), 15_000),
  );
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
