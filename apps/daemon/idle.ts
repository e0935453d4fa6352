/**
 * Ends a daemon that nobody needs: nothing waits or runs anywhere for `idleMs` on end. What can't be asked (Redis is away)
 * counts as busy.
 */
export type IdleWatch = { stop(): void };

export function watchIdle(idleMs: number, busy: () => Promise<boolean>, now: () => number, onIdle: () => void): IdleWatch {
  const every = Math.min(Math.max(idleMs / 10, 20), 15_000);
  let since = now();
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    busy()
      .catch(() => true)
      .then((isBusy) => {
        if (isBusy) since = now();
        else if (now() - since >= idleMs) onIdle();
      })
      .finally(() => (looking = false));
  }, every);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
