import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Why a folder may not hold sockets, prompts or records; null when it is a real folder of ours that no other user can
 * enter. A symbolic link counts as foreign: in a shared temp folder another user could have put it there first.
 */
export function folderProblem(path: string): string | null {
  let stat;
  try {
    stat = lstatSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'it does not exist'
      : `it can't be read (${(error as Error).message})`;
  }
  if (stat.isSymbolicLink()) return 'it is a symbolic link';
  if (!stat.isDirectory()) return 'it is not a folder';
  const uid = process.getuid?.();
  if (uid !== undefined && stat.uid !== uid) return `it belongs to user ${stat.uid}`;
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    return `others may enter it (mode ${(stat.mode & 0o777).toString(8).padStart(4, '0')})`;
  return null;
}

/** Makes it (0700, with its parents) when it is absent; then the same question. */
export function makeOwnFolder(path: string): string | null {
  try {
    makeWithParents(path);
  } catch (error) {
    return `it can't be made (${(error as Error).message})`;
  }
  return folderProblem(path);
}

/**
 * Step by step: Node's own `recursive` never comes back where a file system answers ENOENT in a folder that is there
 * (/proc, automounts).
 */
function makeWithParents(path: string): void {
  if (makeUnlessThere(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeWithParents(parent);
  if (!makeUnlessThere(path)) throw new Error(`ENOENT: nothing can be made in ${parent}`);
}

/** False: its parent is missing. */
function makeUnlessThere(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}
