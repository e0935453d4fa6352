/**
 * What must be undone after a test file, or when its process leaves before that: by SIGTERM, or a person's Ctrl-C.
 * Callbacks are synchronous and run once, the last registered first. SIGKILL reaches nothing: see redis.ts.
 */
const undo: (() => void)[] = [];
let listening = false;

export function onLeave(callback: () => void): void {
  if (!listening) listen();
  listening = true;
  undo.push(callback);
}

function listen(): void {
  process.once('exit', leave);
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
}

/** Undoes it now. */
export function leave(): void {
  for (const callback of undo.splice(0).reverse()) {
    try {
      callback();
    } catch {
      // The next callback may hold a process; a folder that can't be removed must not keep it alive.
    }
  }
}
