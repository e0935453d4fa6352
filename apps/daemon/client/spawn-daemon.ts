import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeOwnFolder, type Environment, type Paths } from '#config';
import { daemonEnvironment } from '../made-environment.js';

/** Beside this module's bundle, above it (a chunk), or in dist when this is run from its source. */
export function daemonProgram(): string {
  const candidates = ['./daemon.mjs', '../daemon.mjs', '../../../dist/daemon.mjs'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return candidates.find((path) => existsSync(path)) ?? candidates[0] ?? '';
}

/**
 * Young objects get 12 MB in place of 48: a daemon lives for weeks beside the agents, and what it reads of their output
 * is garbage at once (a flood of a gigabyte: 15 MB of growth against 35, in the same time).
 */
const SMALL = ['--max-semi-space-size=4'];

/** What starts a daemon of this state folder. `service`: for whatever of the box keeps one running. */
export function daemonCommand(program: string, state: string, service: boolean): string[] {
  return [process.execPath, ...SMALL, program, '--state', state, ...(service ? ['--service'] : [])];
}

export type SpawnedDaemon = {
  pid: number | null;
  /** Null while it runs; then how it left. */
  left(): string | null;
};

/**
 * A daemon of its own session, with an environment made for it. Its first words (those before its log is open, and
 * those of a crash) go to logs/daemon.err.
 * @throws when the logs folder can't be written
 */
export function spawnDaemon(program: string, paths: Paths, env: Environment): SpawnedDaemon {
  const problem = makeOwnFolder(paths.logs);
  if (problem !== null) throw new Error(`${paths.logs}: ${problem}`);
  const words = openSync(join(paths.logs, 'daemon.err'), 'a', 0o600);
  let left: string | null = null;
  let child: ChildProcess;
  try {
    const [node = '', ...args] = daemonCommand(program, paths.state, false);
    child = spawn(node, args, {
      detached: true,
      cwd: '/',
      env: daemonEnvironment(env),
      stdio: ['ignore', words, words],
    });
  } finally {
    closeSync(words);
  }
  child.once('error', (error) => (left = error.message));
  child.once('exit', (code, signal) => (left ??= signal === null ? `exit code ${code}` : `signal ${signal}`));
  child.unref();
  return { pid: child.pid ?? null, left: () => left };
}
