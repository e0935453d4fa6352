import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  closeSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { constants as os } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { CLAIM_LOST } from './claim.js';
import { hasCode, syncFolder } from './durable-file.js';
import { firstLine } from './first-line.js';
import { attemptMark, endMarked } from './marks.js';
import { FORK_SERVER } from './fork-server.js';
import { identityOf, ownIdentity } from './process-identity.js';
import { serveForks } from './serve-forks.js';

/**
 * The supervisor for boxes where the shell's doesn't do (supervisor.sh says what it is and writes; this is the same
 * with the same files). A program of its own: `node supervisor.mjs FOLDER ATTEMPT SECONDS GRACE UMASK CWD COMMAND
 * ARGUMENT…`, and the CLI's environment as JSON on stdin.
 */
type Words = {
  folder: string;
  attempt: string;
  deadlineMs: number;
  graceMs: number;
  umask: number;
  cwd: string;
  command: string;
  args: string[];
};

function readWords(argv: string[]): Words {
  const [folder = '', attempt = '', seconds, grace, umask = '', cwd = '', command = '', ...args] = argv;
  return {
    folder,
    attempt,
    deadlineMs: Number(seconds) * 1000,
    graceMs: Number(grace) * 100,
    umask: parseInt(umask, 8),
    cwd,
    command,
    args,
  };
}

async function supervise(words: Words): Promise<void> {
  const env = JSON.parse(await text(process.stdin)) as Record<string, string>;
  process.umask(0o077);
  if (!claim(words.folder)) process.exit(CLAIM_LOST);
  // It leaves when its CLI has left, not before.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) process.on(signal, () => {});

  const flaw = startFlaw(words);
  if (flaw !== null) return writeExit(words.folder, 127, false, flaw);
  await run(words, env);
}

function claim(folder: string): boolean {
  const temp = join(folder, `claim.${process.pid}`);
  writeSynced(temp, ownIdentity());
  try {
    linkSync(temp, join(folder, 'claim'));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    unlinkSync(temp);
  }
}

function startFlaw({ cwd, command }: Words): string | null {
  if (!may(cwd, constants.X_OK) || !statSync(cwd).isDirectory()) return 'cwd';
  return may(command, constants.X_OK) && statSync(command).isFile() ? null : 'command';
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

async function run(words: Words, env: Record<string, string>): Promise<void> {
  const { folder, attempt, cwd, command, args } = words;
  const stdio = [
    openSync(join(folder, 'prompt'), 'r'),
    openSync(join(folder, 'out'), 'w', 0o600),
    openSync(join(folder, 'err'), 'w', 0o600),
  ] as const;
  process.umask(words.umask);
  const cli = spawn(command, args, {
    cwd,
    detached: true,
    stdio: [...stdio],
    env: { ...env, PWD: cwd, CMO_ATTEMPT: attempt },
  });
  process.umask(0o077);
  const leaving = new Promise<number>((resolve) => {
    cli.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? os.signals[signal] : 0)));
    cli.once('error', (error) => {
      writeSync(stdio[2], `cmo-supervisor: ${error.message}\n`);
      resolve(-1);
    });
  });
  if (cli.pid === undefined) return leaving.then(() => writeExit(folder, 127, false, 'exec'));

  // It may have left already, and its children not: no start that anything could have then, so only its absence is a
  // match.
  const leader = identityOf(cli.pid) ?? { pid: cli.pid, ticks: -1, bootId: '' };
  const tree = { marks: [attemptMark(attempt)], leader };
  writeRenamed(join(folder, 'run.json'), {
    ...ownIdentity(),
    cliPid: cli.pid,
    cliTicks: leader.ticks === -1 ? null : leader.ticks,
  });
  await syncFolder(folder);

  const endings: Promise<unknown>[] = [];
  const clock = setTimeout(() => {
    closeSync(openSync(join(folder, 'timed-out'), 'w', 0o600));
    endings.push(endMarked(tree, { graceMs: words.graceMs, killMs: 2_000 }));
  }, words.deadlineMs);

  const code = await leaving;
  clearTimeout(clock);
  await Promise.all(endings);
  await writeExit(folder, code, endings.length > 0, (await couldNotStart(code, folder)) ? 'exec' : null);
  for (const fd of stdio) closeSync(fd);
  // Strays of its group. Those in sessions of their own are ended by the worker that delivers the run.
  await endMarked({ ...tree, marks: [] }, { graceMs: words.graceMs, killMs: 2_000 });
}

/** `#!/usr/bin/env node` where there is no node: the program that failed is `env`, and says so. */
async function couldNotStart(code: number, folder: string): Promise<boolean> {
  return (code === 126 || code === 127) && /^\S*env: /.test((await firstLine(join(folder, 'err'))) ?? '');
}

/** A disk that is full for a moment must not cost the record. */
async function writeExit(folder: string, code: number, timedOut: boolean, spawnError: string | null): Promise<void> {
  for (let turn = 0; ; turn++) {
    try {
      return writeRenamed(join(folder, 'exit.json'), { code, timedOut, spawnError });
    } catch (error) {
      if (turn === 30) throw error;
      await delay(1_000);
    }
  }
}

function writeRenamed(path: string, value: unknown): void {
  const temp = `${path.slice(0, -'.json'.length)}.tmp`;
  writeSynced(temp, value);
  renameSync(temp, path);
}

function writeSynced(path: string, value: unknown): void {
  const fd = openSync(path, 'w', 0o600);
  writeSync(fd, `${JSON.stringify(value)}\n`);
  fsyncSync(fd);
  closeSync(fd);
}

if (process.argv[2] === FORK_SERVER) serveForks();
else await supervise(readWords(process.argv.slice(2)));
