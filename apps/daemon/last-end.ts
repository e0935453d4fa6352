import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLock, type LockOwner } from '#runner/lock-file';
import { isAlive, ownIdentity } from '#runner/process-identity';

/**
 * How the last daemon that did not leave in order ended. The next one may be up within seconds, and a person who looks
 * in the morning would see nothing but its short life.
 *
 *   an uncaught error ─▶ written by the daemon itself as it ends
 *   killed, out of memory ─▶ it could write nothing; the lock it left says so, and the next daemon writes it down
 *   power cut, reboot ─▶ no fault of the daemon's: nothing is written
 */
export type LastEnd = {
  /** ISO. Of one that was killed: when that was found. */
  at: string;
  pid: number;
  version: string | null;
  why: string;
  /** How many ended so within a day of each other, this one included. */
  times: number;
};

const DAY_MS = 86_400_000;
const KILLED =
  'it was killed, or ran out of memory; its last words, if any, are in logs/daemon.err, or where systemd runs it: journalctl --user -u cmo';

function pathIn(state: string): string {
  return join(state, 'daemon.ended.json');
}

/** Never throws: on a full disk the log may still have it. */
export function writeLastEnd(state: string, end: Omit<LastEnd, 'times'>): void {
  const before = read(state);
  const times = before !== null && Date.parse(end.at) - Date.parse(before.at) < DAY_MS ? before.times + 1 : 1;
  const temp = `${pathIn(state)}.${process.pid}`;
  try {
    writeFileSync(temp, JSON.stringify({ schema: 'cmo.daemon-ended/1', ...end, times }), { mode: 0o600 });
    renameSync(temp, pathIn(state));
  } catch {
    rmSync(temp, { force: true });
  }
}

/** @param owner who the daemon's lock named before this daemon took it */
export function noteKilled(state: string, owner: LockOwner | null): void {
  const killed = killedOwner(owner);
  if (killed !== null && read(state)?.pid !== killed.pid) writeLastEnd(state, killed);
}

/** For a day. Null: the last one left in order, or longer ago. */
export async function readLastEnd(state: string, now: number): Promise<LastEnd | null> {
  const written = read(state);
  const killed = killedOwner(await readLock(join(state, 'daemon.lock')).catch(() => null));
  if (killed !== null && killed.pid !== written?.pid) return { ...killed, times: 1 };
  return written !== null && now - Date.parse(written.at) < DAY_MS ? written : null;
}

/**
 * How long a service's daemon waits before it begins, ms: one that ends as soon as it is up would else be started every
 * two seconds, all night.
 */
export function pauseAfter(end: LastEnd | null, now: number): number {
  if (end === null || end.times <= 3 || now - Date.parse(end.at) > 120_000) return 0;
  return Math.min(60_000, 2_000 * 2 ** (end.times - 3));
}

function killedOwner(owner: LockOwner | null): Omit<LastEnd, 'times'> | null {
  const { identity, fields } = owner ?? { identity: null, fields: {} as LockOwner['fields'] };
  if (identity === null || identity.bootId !== ownIdentity().bootId || isAlive(identity)) return null;
  return {
    at: new Date().toISOString(),
    pid: identity.pid,
    version: typeof fields['version'] === 'string' ? fields['version'] : null,
    why: KILLED,
  };
}

function read(state: string): LastEnd | null {
  try {
    const { at, pid, version, why, times } = JSON.parse(readFileSync(pathIn(state), 'utf8')) as Record<string, unknown>;
    if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof why !== 'string') return null;
    if (typeof pid !== 'number' || typeof times !== 'number') return null;
    return { at, pid, version: typeof version === 'string' ? version : null, why, times };
  } catch {
    return null;
  }
}
