import { join } from 'node:path';
import { DISPATCH_ID, isEnded, parseAttemptId, type GcData, type Keep } from '#contract';
import type { Resources } from '../resources.js';
import { agedIn, remove, sizeOf, tooMany } from './aged.js';

type Folders = {
  path: string;
  /** Which entries are ours to remove, by name. */
  ours(name: string): boolean;
  /** The dispatch that an entry belongs to: while it lives the entry stays. Null: it may go by its age alone. */
  dispatchOf(name: string): string | null;
  keep: Keep;
};

/**
 * Removes run folders past their retention: of delivered attempts, of text work (what an agent left there goes with its
 * run folders), and the unreadable ones that were set aside. A folder whose dispatch lives stays: a Redis that fell back
 * delivers from it once more.
 * @param now ms since the epoch @param dryRun only counts
 */
export async function forgetRuns(
  { records, folders }: Pick<Resources, 'records' | 'folders'>,
  keep: Keep,
  now: number,
  dryRun: boolean,
): Promise<GcData['runs']> {
  const gone = { removed: 0, bytes: 0 };
  for (const { path: parent, ours, dispatchOf, keep: kept } of runFolders(folders.runs, keep))
    for (const { name, path } of tooMany(await agedIn(parent, ours), kept, now)) {
      const dispatch = dispatchOf(name);
      const record = dispatch === null ? null : await records.read(dispatch);
      if (record && !isEnded(record.state)) continue;
      gone.removed++;
      gone.bytes += await sizeOf(path);
      if (!dryRun) await remove(path);
    }
  return gone;
}

function runFolders(runs: string, keep: Keep): Folders[] {
  const text: Folders = {
    path: join(runs, 'text'),
    ours: (name) => DISPATCH_ID.test(name),
    dispatchOf: (name) => name,
    // One folder may serve many attempts, so only their age counts.
    keep: { days: keep.days, most: null },
  };
  const broken: Folders = { path: join(runs, 'broken'), ours: () => true, dispatchOf: () => null, keep };
  const delivered: Folders = {
    path: join(runs, 'done'),
    ours: (name) => parseAttemptId(name) !== undefined,
    dispatchOf: (name) => parseAttemptId(name)?.dispatch ?? null,
    keep,
  };
  return [text, broken, delivered];
}
