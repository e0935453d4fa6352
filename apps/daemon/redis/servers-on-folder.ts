import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { readStat } from '#runner/process-identity';

/**
 * Pids of Redis servers whose working folder is this one (a server makes its data folder its cwd), as /proc shows them;
 * empty where there is no /proc. Two servers on one folder would write one append-only file, so a folder whose lock was
 * lost or copied is looked at itself. A server's own child that rewrites its file is not a server; one that was
 * orphaned still writes there, and counts.
 */
export function serversOnFolder(folder: string): number[] {
  let real: string;
  let entries: string[];
  try {
    real = realpathSync(folder);
    entries = readdirSync('/proc');
  } catch {
    return [];
  }
  const pids = entries
    .filter((entry) => /^[0-9]+$/.test(entry) && cwdOf(entry) === real && isServer(entry))
    .map(Number);
  return pids.filter((pid) => !pids.includes(readStat(pid)?.parent ?? -1)).sort((a, b) => a - b);
}

function cwdOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/**
 * By the name the kernel keeps, not by the command line, which the server rewrites. Zombies have no cwd, so none comes
 * here.
 */
function isServer(pid: string): boolean {
  try {
    return /^(redis|valkey)-/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));
  } catch {
    return false;
  }
}
