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

export function markTakenDown(paths: Paths, now: number): void {
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  writeFileSync(mark(paths), `${new Date(now).toISOString()}\n`, { mode: 0o600 });
}

export function clearTakenDown(paths: Paths): void {
  rmSync(mark(paths), { force: true });
}

export function isTakenDown(paths: Paths): boolean {
  return statSync(mark(paths), { throwIfNoEntry: false }) !== undefined;
}
