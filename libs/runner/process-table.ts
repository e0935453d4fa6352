import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { hasProc, identityOf, isLivingState, PS_ENV, readStat, type ProcessIdentity } from './process-identity.js';

/**
 * Which processes are meant. A mark is a whole `NAME=value` of a process' environment, as it was when the program was
 * started; `leader` adds the group and the session that this process leads or led (a child that cleared its environment
 * is still in there).
 */
export type ProcessSelection = { marks: readonly string[]; leader?: ProcessIdentity | undefined };

export type ProcessTable = {
  /** Pids of living processes that are meant; never this process or process 1. Unreadable ones are passed over. */
  find(selection: ProcessSelection): Promise<number[]>;
};

/** Processes looked at before other work of this event loop may go on. */
const SLICE = 256;

export const procTable: ProcessTable = {
  async find(selection) {
    const marks = selection.marks.map((mark) => Buffer.from(mark));
    const leader = ledBy(selection.leader);
    const found: number[] = [];
    let looked = 0;
    for (const entry of readdirSync('/proc')) {
      const pid = Number(entry);
      if (!Number.isInteger(pid) || isNeverMeant(pid)) continue;
      if (++looked % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
      if (holdsMark(pid, marks) || isLedBy(pid, leader)) found.push(pid);
    }
    return found;
  },
};

function isNeverMeant(pid: number): boolean {
  return pid === process.pid || pid === 1;
}

function holdsMark(pid: number, marks: Buffer[]): boolean {
  if (marks.length === 0) return false;
  let environment: Buffer;
  try {
    environment = readFileSync(`/proc/${pid}/environ`);
  } catch {
    return false;
  }
  return marks.some((mark) => holdsEntry(environment, mark));
}

/** Entries end in NUL; attempt 1 is not attempt 11, and not the tail of another variable. */
export function holdsEntry(environment: Buffer, entry: Buffer): boolean {
  for (let at = environment.indexOf(entry); at !== -1; at = environment.indexOf(entry, at + 1)) {
    const end = at + entry.length;
    if ((at === 0 || environment[at - 1] === 0) && (end === environment.length || environment[end] === 0)) return true;
  }
  return false;
}

/** A pid that is another process by now leads another group: no pid is given out while a group or session bears it. */
function ledBy(leader: ProcessIdentity | undefined): number | null {
  if (!leader) return null;
  const now = identityOf(leader.pid);
  return now === null || now.ticks === leader.ticks ? leader.pid : null;
}

function isLedBy(pid: number, leader: number | null): boolean {
  if (leader === null) return false;
  const stat = readStat(pid);
  return stat !== null && isLivingState(stat.state) && (stat.group === leader || stat.session === leader);
}

const run = promisify(execFile);

/** For boxes without /proc: `ps` shows the environment behind the command. A command line that quotes the mark matches too. */
export const psTable: ProcessTable = {
  async find(selection) {
    const leader = ledBy(selection.leader);
    const { stdout } = await run('ps', ['axeww', '-o', 'pid=,pgid=,stat=,command='], { encoding: 'utf8', env: PS_ENV, maxBuffer: 64 * 1024 * 1024 });
    const found: number[] = [];
    for (const line of stdout.split('\n')) {
      const [, pid, group, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      if (pid === undefined || state === undefined || state.startsWith('Z') || isNeverMeant(Number(pid))) continue;
      const marked = selection.marks.some((mark) => ` ${command ?? ''} `.includes(` ${mark} `));
      if (marked || (leader !== null && Number(group) === leader)) found.push(Number(pid));
    }
    return found;
  },
};

let chosen: ProcessTable | undefined;

export function processTable(): ProcessTable {
  chosen ??= hasProc() ? procTable : psTable;
  return chosen;
}
