import { join } from 'node:path';
import { DISPATCH_ID, isEnded, parseAttemptId, type GcData, type Keep } from '#contract';
import type { Resources } from '../resources.js';
import { agedIn, remove, sizeOf, tooMany } from './aged.js';

/**
 * Folders of text work whose dispatch has ended or is gone: what an agent left there goes with its run folders. Counted
 * with them.
 */
async function forgetTextFolders(
  { records, folders }: Pick<Resources, 'records' | 'folders'>,
  days: number,
  now: number,
  dryRun: boolean,
): Promise<GcData['runs']> {
  const gone = { removed: 0, bytes: 0 };
  for (const { name, path } of tooMany(
    await agedIn(join(folders.runs, 'text'), (one) => DISPATCH_ID.test(one)),
    { days, most: null },
    now,
  )) {
    const record = await records.read(name);
    if (record && !isEnded(record.state)) continue;
    gone.removed++;
    gone.bytes += await sizeOf(path);
    if (!dryRun) await remove(path);
  }
  return gone;
}

/** Folders that could not be read and were kept for a look. Nothing is ever read from them again. */
async function forgetBroken(
  { folders }: Pick<Resources, 'folders'>,
  keep: Keep,
  now: number,
  dryRun: boolean,
): Promise<GcData['runs']> {
  const gone = { removed: 0, bytes: 0 };
  for (const { path } of tooMany(await agedIn(join(folders.runs, 'broken'), () => true), keep, now)) {
    gone.removed++;
    gone.bytes += await sizeOf(path);
    if (!dryRun) await remove(path);
  }
  return gone;
}

/** Folders of delivered attempts. One whose dispatch lives stays: a Redis that fell back delivers from it once more. */
export async function forgetRuns(
  resources: Pick<Resources, 'records' | 'folders'>,
  keep: Keep,
  now: number,
  dryRun: boolean,
): Promise<GcData['runs']> {
  const { records, folders } = resources;
  const done = await agedIn(join(folders.runs, 'done'), (name) => parseAttemptId(name) !== undefined);
  const [text, broken] = [
    await forgetTextFolders(resources, keep.days, now, dryRun),
    await forgetBroken(resources, keep, now, dryRun),
  ];
  const gone = { removed: text.removed + broken.removed, bytes: text.bytes + broken.bytes };
  for (const { name, path } of tooMany(done, keep, now)) {
    const record = await records.read(parseAttemptId(name)?.dispatch ?? '');
    if (record && !isEnded(record.state)) continue;
    gone.removed++;
    gone.bytes += await sizeOf(path);
    if (!dryRun) await remove(path);
  }
  return gone;
}
