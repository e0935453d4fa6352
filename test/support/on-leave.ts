/**
 * What must be undone when this process leaves, however it leaves: vitest ends a test process with SIGTERM, a person with
 * Ctrl-C. Callbacks are synchronous and run once, the last registered first. SIGKILL reaches nothing: see redis.ts.
 */
const undo: (() => void)[] = [];

export function onLeave(callback: () => void): void {
  if (undo.length === 0) listen();
  undo.push(callback);
}

function listen(): void {
  process.once('exit', runAll);
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
}

function runAll(): void {
  for (const callback of undo.splice(0).reverse()) {
    try {
      callback();
    } catch {
      // The next callback may hold a process; a folder that can't be removed must not keep it alive.
    }
  }
}
