import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Paths } from '#config';

/**
 * `cmo down` leaves a mark. A client that waits starts a daemon that died, but one that was taken down on purpose must
 * stay down, or a terminal left open with `cmo run` in it would bring it back at once.
 */
function mark({ state }: Paths): string {
  return join(state, 'down');
}

export function markTakenDown(paths: Paths): void {
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  // Empty: a full disk has room for a name.
  writeFileSync(mark(paths), '', { mode: 0o600 });
}

export function clearTakenDown(paths: Paths): void {
  try {
    rmSync(mark(paths), { force: true });
  } catch {
    // The start of a daemon there will report what is wrong with the folder.
  }
}

export function isTakenDown(paths: Paths): boolean {
  return statSync(mark(paths), { throwIfNoEntry: false }) !== undefined;
}
