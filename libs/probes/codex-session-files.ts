import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export type SessionFile = { path: string; name: string; size: number; mtimeMs: number };

export type FoundSessions = {
  /** Last touched first; among files touched at the same moment, the one started last. */
  files: SessionFile[];
  /** Folders that are there but can't be listed. */
  unreadable: string[];
};

/**
 * Where codex keeps sessions under its home: `archive` moves whole files, which hold the last reading until the next
 * run.
 */
export function sessionRoots(codexHome: string): string[] {
  return [join(codexHome, 'sessions'), join(codexHome, 'archived_sessions')];
}

const DEEPEST = 3; // YYYY/MM/DD
const ROLLOUT = /^rollout-.+\.jsonl$/;
const NUMERIC = /^\d{1,4}$/;

/**
 * The session files under these roots. Day folders carry the local date of the box, so "today" is never computed:
 * folders are walked newest name first. A resumed session goes on in the file of the day it began, so old folders count
 * too, up to `maxFiles` files in all; its modification time is what brings it forward.
 */
export async function findSessionFiles(roots: readonly string[], maxFiles = 5000): Promise<FoundSessions> {
  const found: FoundSessions = { files: [], unreadable: [] };
  for (const root of roots) await walk(root, 0, maxFiles, found);
  found.files.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.name < b.name ? 1 : -1));
  return found;
}

async function walk(folder: string, depth: number, maxFiles: number, found: FoundSessions): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (!isAbsence(error)) found.unreadable.push(folder);
    return;
  }
  const rollouts = names
    .filter((name) => ROLLOUT.test(name))
    .sort()
    .reverse();
  const room = Math.max(0, maxFiles - found.files.length);
  const files = await Promise.all(rollouts.slice(0, room).map((name) => sessionFile(folder, name)));
  for (const file of files) if (file) found.files.push(file);
  if (depth === DEEPEST) return;
  const folders = names.filter((name) => NUMERIC.test(name)).sort((a, b) => Number(b) - Number(a));
  for (const name of folders) {
    if (found.files.length >= maxFiles) return;
    await walk(join(folder, name), depth + 1, maxFiles, found);
  }
}

/** Null unless it is a plain file with something in it: opening a pipe of that name would wait for ever. */
async function sessionFile(folder: string, name: string): Promise<SessionFile | null> {
  const path = join(folder, name);
  try {
    const stats = await stat(path);
    return stats.isFile() && stats.size > 0 ? { path, name, size: stats.size, mtimeMs: stats.mtimeMs } : null;
  } catch {
    return null; // gone between listing and looking (archived, deleted)
  }
}

function isAbsence(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
