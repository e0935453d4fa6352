import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Keep } from '#contract';

const DAY_MS = 86_400_000;

/** Something in a folder that may be removed, by the file system's time. */
export type Aged = { name: string; path: string; at: number };

/** Oldest first. */
export async function agedIn(folder: string, wanted: (name: string) => boolean): Promise<Aged[]> {
  const names = (await readdir(folder).catch(() => [])).filter(wanted);
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const made = await lstat(path).catch(() => null);
      return made ? [{ name, path, at: made.mtimeMs }] : [];
    }),
  );
  return found.flat().sort((one, other) => one.at - other.at);
}

/** Those that are too old, and of more than are kept the oldest. */
export function tooMany(things: readonly Aged[], { days, most }: Keep, now: number): Aged[] {
  const over = most === null ? 0 : Math.max(things.length - most, 0);
  return things.filter(({ at }, i) => i < over || at <= now - days * DAY_MS);
}

/**
 * @returns bytes of a file, or of everything in a folder. Links are not followed: an agent may have linked to the whole
 * disk.
 */
export async function sizeOf(path: string): Promise<number> {
  const own = await lstat(path).catch(() => null);
  if (!own?.isDirectory()) return own?.size ?? 0;
  const sizes = await Promise.all((await readdir(path).catch(() => [])).map((name) => sizeOf(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
