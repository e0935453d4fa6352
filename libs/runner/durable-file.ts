import { link, open, readFile, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';

/**
 * Files that are whole or absent, even after a power cut: written under another name, synced, then renamed. A process
 * that dies in between leaves a `.new-…` file beside it, which is never read.
 */
async function writeUnnamed(path: string, text: string): Promise<string> {
  const temp = join(dirname(path), `.new-${process.pid}-${randomUUID()}-${basename(path)}`);
  const file = await open(temp, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    // A full disk would else gather one more empty file with each try.
    await unlink(temp).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  return temp;
}

/** The last writer wins. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temp = await writeUnnamed(path, text);
  await rename(temp, path);
  await syncFolder(dirname(path));
}

/** The first writer wins: link(2) fails where the name is taken. @returns whether this call was the first. */
export async function writeFirst(path: string, text: string): Promise<boolean> {
  const temp = await writeUnnamed(path, text);
  try {
    await link(temp, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(temp);
  }
  await syncFolder(dirname(path));
  return true;
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Null: no such file. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
