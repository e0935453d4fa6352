import { constants } from 'node:fs';
import { access, lstat, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { PlaceKind } from './resources.js';

/** What is at the path where an agent is to work. */
export async function placeOf(path: string): Promise<PlaceKind> {
  if (!isAbsolute(path)) return 'relative';
  try {
    if (!(await stat(path)).isDirectory()) return 'not-a-folder';
    await access(path, constants.R_OK | constants.X_OK);
    return 'folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENAMETOOLONG') return 'missing';
    return code === 'ENOTDIR' ? 'not-a-folder' : 'unreadable';
  }
}

/**
 * Name of the repository that holds a path (its folder with `.git`, which is a file in a worktree), else of the path's
 * own folder. Starts no process.
 */
export async function projectOf(path: string): Promise<string> {
  const start = resolve(path);
  for (let folder = start; ; folder = dirname(folder)) {
    if (
      await lstat(join(folder, '.git')).then(
        () => true,
        () => false,
      )
    )
      return nameOf(folder);
    if (folder === dirname(folder)) return nameOf(start);
  }
}

function nameOf(folder: string): string {
  return basename(folder) || folder;
}
