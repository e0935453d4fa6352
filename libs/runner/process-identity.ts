import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * One process for all time, not only a pid that another may have by now. On Linux `ticks` is the start time in clock
 * ticks since boot and `bootId` the kernel's; where there is no /proc `ticks` is the start in seconds since the epoch
 * (`ps -o lstart`), which needs no boot id.
 */
export type ProcessIdentity = { pid: number; ticks: number; bootId: string };

/** What /proc/PID/stat says that matters here. `state` is one letter: Z is a zombie, X is dead. */
export type ProcessStat = { state: string; parent: number; group: number; session: number; ticks: number };

export type IdentityReader = {
  /** Null: no such living process. */
  identityOf(pid: number): ProcessIdentity | null;
};

const NO_BOOT_ID = 'start-time';

/**
 * Null: not the text of a stat file. The name stands in brackets and may hold spaces and brackets, so the last `)`
 * counts.
 */
export function parseStat(text: string): ProcessStat | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  const ticks = Number(fields[19]);
  if (state === undefined || !Number.isSafeInteger(ticks)) return null;
  return { state, parent: Number(parent), group: Number(group), session: Number(session), ticks };
}

export function readStat(pid: number): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}

/** A zombie is not alive: process 1 of a container may never reap, and a zombie keeps its pid and its ticks. */
export function isLivingState(state: string): boolean {
  return state !== 'Z' && state !== 'X';
}

export const procIdentities: IdentityReader = {
  identityOf(pid) {
    const stat = readStat(pid);
    return stat && isLivingState(stat.state) ? { pid, ticks: stat.ticks, bootId: bootId() } : null;
  },
};

/** For boxes without /proc: one `ps` a question, some milliseconds each. */
export const psIdentities: IdentityReader = {
  identityOf(pid) {
    const [state, ...start] = psFields(pid);
    if (state === undefined || state.startsWith('Z')) return null;
    const seconds = Date.parse(`${start.join(' ')} UTC`) / 1000;
    return Number.isFinite(seconds) ? { pid, ticks: seconds, bootId: NO_BOOT_ID } : null;
  },
};

function psFields(pid: number): string[] {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: PS_ENV,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim().split(/\s+/).filter(Boolean);
  } catch {
    return [];
  }
}

/** A zone and a language of our own: the start time is compared, and parsed. */
export const PS_ENV = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

let knownBootId: string | undefined;

function bootId(): string {
  knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return knownBootId;
}

export function hasProc(): boolean {
  return readStat(process.pid) !== null;
}

let chosen: IdentityReader | undefined;

function reader(): IdentityReader {
  chosen ??= hasProc() ? procIdentities : psIdentities;
  return chosen;
}

export function identityOf(pid: number): ProcessIdentity | null {
  return reader().identityOf(pid);
}

let own: ProcessIdentity | undefined;

export function ownIdentity(): ProcessIdentity {
  own ??= identityOf(process.pid) ?? undefined;
  if (!own) throw new Error('neither /proc nor ps names this process');
  return own;
}

/** True only for this very process: a reused pid, a zombie, and a process of an earlier boot are not it. */
export function isAlive(identity: ProcessIdentity, identities: IdentityReader = reader()): boolean {
  const now = identities.identityOf(identity.pid);
  return now !== null && now.ticks === identity.ticks && now.bootId === identity.bootId;
}
