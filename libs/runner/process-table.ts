import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import {
  hasProc,
  identityOf,
  isLivingState,
  PS_ENV,
  readStat,
  type ProcessIdentity,
  type ProcessStat,
} from './process-identity.js';

/**
 * Which processes are meant. A mark is a whole `NAME=value` of a process' environment, as it was when the program was
 * started; `leader` adds the group and the session that this process leads or led (a child that cleared its environment
 * is still in there). `writesTo` adds those whose output goes to one of these files: a child that cleared its
 * environment and left group and session still has what it was born with. Looked at where /proc is.
 */
export type ProcessSelection = {
  marks: readonly string[];
  leader?: ProcessIdentity | undefined;
  writesTo?: readonly string[];
};

export type ProcessTable = {
  /** Pids of living processes that are meant; never this process or process 1. Unreadable ones are passed over. */
  find(selection: ProcessSelection): Promise<number[]>;
};

/** Processes looked at before other work of this event loop may go on. */
const SLICE = 64;

type Question = { selection: ProcessSelection; answer: (pids: number[]) => void; fail: (error: unknown) => void };
let asked: Question[] = [];
let looking = false;

/**
 * One look at /proc answers all who have asked before it began: fifty runs that end together would else each read the
 * environment of every process, twice.
 */
export const procTable: ProcessTable = {
  find(selection) {
    return new Promise((answer, fail) => {
      asked.push({ selection, answer, fail });
      if (!looking) void answerAll();
    });
  },
};

async function answerAll(): Promise<void> {
  looking = true;
  try {
    while (asked.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const questions = asked;
      asked = [];
      try {
        const answers = await look(questions.map(({ selection }) => selection));
        for (const [i, { answer }] of questions.entries()) answer(answers[i] ?? []);
      } catch (error) {
        for (const { fail } of questions) fail(error);
      }
    }
  } finally {
    looking = false;
  }
}

async function look(selections: readonly ProcessSelection[]): Promise<number[][]> {
  const wanted = selections.map(({ marks, leader, writesTo = [] }) => ({
    marks: marks.map((mark) => Buffer.from(mark)),
    leader: ledBy(leader),
    writesTo,
    found: [] as number[],
  }));
  const marked = wanted.some(({ marks }) => marks.length > 0);
  const led = wanted.some(({ leader }) => leader !== null);
  const writing = wanted.some(({ writesTo }) => writesTo.length > 0);
  let looked = 0;
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || isNeverMeant(pid)) continue;
    if (++looked % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    const environment = marked ? environmentOf(pid) : null;
    const stat = led ? readStat(pid) : null;
    const outputs = writing ? outputsOf(pid) : [];
    for (const { marks, leader, writesTo, found } of wanted) {
      if (
        (environment !== null && marks.some((mark) => holdsEntry(environment, mark))) ||
        (stat !== null && isLedBy(stat, leader)) ||
        outputs.some((path) => writesTo.includes(path))
      )
        found.push(pid);
    }
  }
  return wanted.map(({ found }) => found);
}

function isNeverMeant(pid: number): boolean {
  return pid === process.pid || pid === 1;
}

function environmentOf(pid: number): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    return null;
  }
}

/** Where its output and its errors go; a zombie has neither. */
function outputsOf(pid: number): string[] {
  return [1, 2].flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
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

function isLedBy(stat: ProcessStat, leader: number | null): boolean {
  return leader !== null && isLivingState(stat.state) && (stat.group === leader || stat.session === leader);
}

const run = promisify(execFile);

/**
 * For boxes without /proc: `ps` shows the environment behind the command. A command line that quotes the mark matches
 * too.
 */
export const psTable: ProcessTable = {
  async find(selection) {
    const leader = ledBy(selection.leader);
    const { stdout } = await run('ps', ['axeww', '-o', 'pid=,pgid=,stat=,command='], {
      encoding: 'utf8',
      env: PS_ENV,
      maxBuffer: 64 * 1024 * 1024,
    });
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
