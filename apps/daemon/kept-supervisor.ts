import { chmodSync, copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The Node supervisor, bundled beside the daemon, as a copy of this daemon's own: where the shell's doesn't do it is a
 * file that each start of an agent reads, and the package may be replaced or removed long before this daemon hands
 * over.
 */
export function keepSupervisor(state: string): string {
  const bundled = fileURLToPath(new URL('./supervisor.mjs', import.meta.url));
  const own = join(state, 'supervisor.mjs');
  const temp = `${own}.${process.pid}`;
  try {
    copyFileSync(bundled, temp);
    chmodSync(temp, 0o600);
    renameSync(temp, own);
    return own;
  } catch {
    // A full disk: the one of the package does until that goes.
    rmSync(temp, { force: true });
    return bundled;
  }
}
