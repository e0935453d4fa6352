import { join } from 'node:path';
import { isEnded, parseAttemptId, type GcData, type Keep } from '#contract';
import type { Resources } from '../resources.js';
import { agedIn, remove, sizeOf, tooMany } from './aged.js';

/** Folders of delivered attempts. One whose dispatch lives stays: a Redis that fell back delivers from it once more. */
export async function forgetRuns({ records, folders }: Pick<Resources, 'records' | 'folders'>, keep: Keep, now: number, dryRun: boolean): Promise<GcData['runs']> {
  const done = await agedIn(join(folders.runs, 'done'), (name) => parseAttemptId(name) !== undefined);
  const gone = { removed: 0, bytes: 0 };
  for (const { name, path } of tooMany(done, keep, now)) {
    const record = await records.read(parseAttemptId(name)?.dispatch ?? '');
    if (record && !isEnded(record.state)) continue;
    gone.removed++;
    gone.bytes += await sizeOf(path);
    if (!dryRun) await remove(path);
  }
  return gone;
}
