import { randomBytes } from 'node:crypto';
import { open, stat, unlink } from 'node:fs/promises';

/**
 * Room for receipts on a disk that is full: a file that holds nothing, and is given up when a line does not fit any
 * more. A night's last lines are what tells what became of it, so they must not depend on what else fills the disk.
 */
/** More than a thousand lines: what a box has running ends within it, and much of its queue. */
export const BALLAST_BYTES = 2 * 1024 * 1024;

/** Beside the folder, on the same disk: the folder itself holds receipts only. */
function pathOf(folder: string): string {
  return `${folder}.ballast`;
}

/** Puts it there when it is not. Real bytes: a sparse file keeps no room. @returns whether it is there now */
export async function layBallast(folder: string): Promise<boolean> {
  const path = pathOf(folder);
  const there = await stat(path).catch(() => null);
  if (there?.size === BALLAST_BYTES) return true;
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(randomBytes(BALLAST_BYTES));
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch {
    await unlink(path).catch(() => undefined);
    return false;
  }
}

/** @returns false: there was none to give up */
export async function dropBallast(folder: string): Promise<boolean> {
  return unlink(pathOf(folder)).then(
    () => true,
    () => false,
  );
}
