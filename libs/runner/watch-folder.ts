import { watch, type FSWatcher } from 'node:fs';

/**
 * Says when something may have changed in a folder: the kernel tells, and where it can't (no watches left, a network
 * file system) or a message is lost, a slow look is the fallback. Idle runs cost one timer each.
 */
export type FolderWatch = {
  /** Resolves when something changed since the last call, or after `fallbackMs`. One caller at a time. */
  changed(): Promise<void>;
  /** Lets a waiting call go. */
  wake(): void;
  close(): void;
};

export type WatchOptions = {
  /** Ms; with the kernel's word this is only for lost messages. */
  fallbackMs?: number;
  /** At least this long between two answers, ms: a chatty agent writes thousands of times a second. */
  restMs?: number;
};

export function watchFolder(folder: string, { fallbackMs = 1_000, restMs = 20 }: WatchOptions = {}): FolderWatch {
  let pending = false;
  let closed = false;
  let wake: (() => void) | null = null;
  let answered = -Infinity;
  const notice = (): void => {
    pending = true;
    wake?.();
  };
  const watcher = tryWatch(folder, notice);

  const pause = (ms: number, untilWoken: boolean): Promise<void> =>
    new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        wake = null;
        resolve();
      };
      const timer = setTimeout(finish, ms);
      if (untilWoken) wake = finish;
    });

  return {
    async changed() {
      const rest = answered + restMs - performance.now();
      if (rest > 0 && !closed) await pause(rest, false);
      if (!pending && !closed) await pause(fallbackMs, true);
      pending = false;
      answered = performance.now();
    },
    wake: notice,
    close() {
      closed = true;
      watcher?.close();
      notice();
    },
  };
}

function tryWatch(folder: string, notice: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, notice);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
