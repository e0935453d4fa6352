import { DISPATCH_ID, isEnded, type DispatchRecord, type GcData, type Keep } from '#contract';
import type { Resources } from '../resources.js';
import { agedIn, remove, sizeOf, tooMany, type Aged } from './aged.js';

/** A file comes before the record that names it: younger than this, it may be about to get one, ms. */
const UNCLAIMED_MS = 3_600_000;
const NAME = /^(d-[0-9A-HJKMNP-TV-Z]{26})\.(?:prompt|schema|result|partial)(?:\.[0-9a-f]{12})?$/;

/**
 * Files of texts: those that nothing names any more, and of ended dispatches those that are kept no longer. Redis keeps
 * their heads.
 */
export async function forgetBlobs(
  { records, folders }: Pick<Resources, 'records' | 'folders'>,
  keep: Keep,
  now: number,
  dryRun: boolean,
  forgotten: ReadonlySet<string>,
): Promise<GcData['blobs']> {
  const files = await agedIn(folders.blobs, (name) => NAME.test(name));
  const unfinished = (await agedIn(folders.blobs, (name) => name.startsWith('.new-'))).filter(
    ({ at }) => at <= now - UNCLAIMED_MS,
  );
  const owners = new Map<string, DispatchRecord | null>();
  for (const { name } of files)
    owners.set(ownerOf(name), owners.get(ownerOf(name)) ?? (await records.read(ownerOf(name))));
  const orphans = files.filter(
    ({ name, at }) => forgotten.has(ownerOf(name)) || (owners.get(ownerOf(name)) === null && at <= now - UNCLAIMED_MS),
  );
  const ended = files.filter((file) => !orphans.includes(file) && isOver(owners.get(ownerOf(file.name)) ?? null));
  const gone = { removed: 0, bytes: 0 };
  for (const { path } of [...unfinished, ...orphans, ...tooMany(ended, keep, now)] satisfies Aged[]) {
    gone.removed++;
    gone.bytes += await sizeOf(path);
    if (!dryRun) await remove(path);
  }
  return gone;
}

function ownerOf(name: string): string {
  const owner = NAME.exec(name)?.[1] ?? '';
  return DISPATCH_ID.test(owner) ? owner : '';
}

function isOver(record: DispatchRecord | null): boolean {
  return record !== null && isEnded(record.state);
}
