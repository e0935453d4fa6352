import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readClaim, type Claim } from './claim.js';
import { hasCode, readIfThere } from './durable-file.js';
import { firstLine } from './first-line.js';
import { isAlive, type ProcessIdentity } from './process-identity.js';

/** `supervisor.pid` owns the run; `cli` leads the agent's process group and session. Null: it had left at once. */
export type RunningFacts = { supervisor: ProcessIdentity; cli: ProcessIdentity | null; startedAt: number };

export type ExitRecord = {
  /** As a shell says it: 128 + n for a program ended by signal n, 127 when nothing could be started. */
  code: number;
  /** Read from the code: a program that itself exits with 143 looks the same. */
  signal: string | null;
  /** The deadline had passed and TERM was sent before the CLI left. */
  timedOut: boolean;
  /** In words; null when the program was started. */
  spawnError: string | null;
  /** Milliseconds, by the file system's time. */
  endedAt: number;
};

/**
 *   unclaimed ──claim──► claimed ──run.json──► running ──exit.json──► exited
 *       └──────void claim──► void
 *
 * `alive` is the supervisor. When it is false no exit record will come any more: end what carries the marks, then the
 * attempt was interrupted.
 */
export type RunStatus =
  /** No such folder: never made, or delivered and moved away. */
  | { state: 'gone' }
  | { state: 'unclaimed' }
  | { state: 'void' }
  | { state: 'claimed'; alive: boolean; claim: Claim; startedAt: number }
  | ({ state: 'running'; alive: boolean } & RunningFacts)
  | { state: 'exited'; exit: ExitRecord; run: RunningFacts | null; startedAt: number };

const runSchema = z.object({
  pid: z.number(),
  ticks: z.number(),
  bootId: z.string(),
  cliPid: z.number(),
  cliTicks: z.nullable(z.number()),
});
const exitSchema = z.object({ code: z.number(), timedOut: z.boolean(), spawnError: z.nullable(z.string()) });

export async function readStatus(
  folder: string,
  alive: (identity: ProcessIdentity) => boolean = isAlive,
): Promise<RunStatus> {
  try {
    const status = await readOnce(folder, alive);
    // It may have written its last word between the look at the files and the look at the process.
    return (status.state === 'claimed' || status.state === 'running') && !status.alive
      ? await readOnce(folder, () => false)
      : status;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { state: 'gone' };
    throw error;
  }
}

async function readOnce(folder: string, alive: (identity: ProcessIdentity) => boolean): Promise<RunStatus> {
  const run = await readRunning(folder);
  const exit = await readExit(folder);
  if (exit) return { state: 'exited', exit, run, startedAt: run?.startedAt ?? exit.endedAt };
  if (run) return { state: 'running', alive: alive(run.supervisor), ...run };
  const claim = await readClaim(folder);
  if (!claim) return { state: existsSync(folder) ? 'unclaimed' : 'gone' };
  if (claim.void) return { state: 'void' };
  return {
    state: 'claimed',
    alive: claim.by !== null && alive(claim.by),
    claim,
    startedAt: await timeOf(join(folder, 'claim')),
  };
}

async function readRunning(folder: string): Promise<RunningFacts | null> {
  const path = join(folder, 'run.json');
  const run = parse(runSchema, await readIfThere(path));
  if (!run) return null;
  const { pid, ticks, bootId, cliPid, cliTicks } = run;
  const cli = cliTicks === null ? null : { pid: cliPid, ticks: cliTicks, bootId };
  return { supervisor: { pid, ticks, bootId }, cli, startedAt: await timeOf(path) };
}

async function readExit(folder: string): Promise<ExitRecord | null> {
  const path = join(folder, 'exit.json');
  const exit = parse(exitSchema, await readIfThere(path));
  if (!exit) return null;
  return {
    code: exit.code,
    signal: signalOf(exit.code),
    timedOut: exit.timedOut,
    spawnError: exit.spawnError === null ? null : await inWords(exit.spawnError, folder),
    endedAt: await timeOf(path),
  };
}

function parse<T extends z.ZodMiniType>(schema: T, text: string | null): z.infer<T> | null {
  if (text === null) return null;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function signalOf(code: number): string | null {
  if (code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}

/** Times come from the files: the shell has no clock of its own, and `date` would cost a process. */
async function timeOf(path: string): Promise<number> {
  return Math.round((await stat(path)).mtimeMs);
}

const NOT_STARTED = 'the CLI could not be started';

/** The supervisors write a word of their own where they know the reason; the shell can't quote a path for JSON. */
async function inWords(reason: string, folder: string): Promise<string> {
  if (reason === 'cwd') return 'the working directory does not exist or may not be entered';
  if (reason === 'command') return 'the CLI is not there or is not executable';
  return reason === 'exec' ? ((await firstLine(join(folder, 'err'))) ?? NOT_STARTED) : reason;
}
