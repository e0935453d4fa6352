import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listRuns } from '#runner';

/**
 * A Redis that comes back with less has lost its last second, or what its replica lacked; a copy of its file may be
 * older, ms.
 */
const KEPT_MS = 10 * 60_000;
/** Folders looked at, the youngest dispatches first: a start must not take longer the more there is of history. */
const MOST = 1_000;

/**
 * Attempts whose delivery Redis may have forgotten: those that ended here lately. Their folders lie among the
 * delivered, which no scan looks at; another node would take their dispatches for waiting, and start them again.
 */
export interface RecentEnds {
  note(attempt: string): void;
  attempts(): string[];
}

export async function recentEnds(runs: string, clock: () => number): Promise<RecentEnds> {
  const ended = new Map<string, number>();
  const done = (await listRuns(join(runs, 'done'))).reverse().slice(0, MOST);
  for (const { id, folder } of done) {
    // Its last change is that it was moved there.
    const at = (await stat(folder).catch(() => null))?.ctimeMs ?? 0;
    if (clock() - at < KEPT_MS) ended.set(id, at);
  }
  const forget = (): void => {
    for (const [id, at] of ended) if (clock() - at >= KEPT_MS) ended.delete(id);
  };
  return {
    note(attempt) {
      forget();
      ended.set(attempt, clock());
    },
    attempts() {
      forget();
      return [...ended.keys()];
    },
  };
}
