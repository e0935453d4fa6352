import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { waitUntil } from './wait-until.js';

/** Alive and not a zombie: process 1 of a container may never reap, and a zombie still answers signal 0. */
export function isAlive(pid: number): boolean {
  const state = processState(pid);
  return state !== null && state !== 'Z' && state !== 'X';
}

/** R, S, D, T (stopped), Z, …; null when there is no such process. */
export function processState(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  } catch {
    return null;
  }
}

/** Signals one process by its id; a process that has left already is what was wanted. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export async function waitGone(pid: number, timeoutMs = 20_000): Promise<void> {
  await waitUntil(() => !isAlive(pid), { timeoutMs, what: `process ${pid} to leave` });
}

/** kill -9, and wait until it has left. */
export async function killNow(pid: number): Promise<void> {
  signal(pid, 'SIGKILL');
  await waitGone(pid);
}

export type MarkedProcess = { pid: number; mark: string; command: string };

/**
 * Living processes whose environment holds `name` (default CMO_ATTEMPT), as /proc shows it. `value` matches the whole
 * value: attempt 1 is not attempt 11.
 */
export function processesWith(value?: string, name = 'CMO_ATTEMPT'): MarkedProcess[] {
  const found: MarkedProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || !isAlive(pid)) continue;
    const mark = environmentOf(pid)
      ?.find((line) => line.startsWith(`${name}=`))
      ?.slice(name.length + 1);
    if (mark === undefined || (value !== undefined && mark !== value)) continue;
    found.push({ pid, mark, command: commandOf(pid) });
  }
  return found;
}

/**
 * Living processes that have the folder in their command line or environment, or as their cwd. A temp folder's name is
 * random, so these are the ones that were started for it. Never our own.
 */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isAlive(pid))
    .map((pid) => ({ pid, command: commandOf(pid) }))
    .filter(
      ({ pid, command }) =>
        command.includes(folder) ||
        environmentOf(pid)?.some((line) => line.includes(folder)) === true ||
        cwdOf(pid).startsWith(folder),
    );
}

function cwdOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function environmentOf(pid: number): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return null;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
