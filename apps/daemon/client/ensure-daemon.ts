import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorBody, PROTOCOL, VERSION, type Config, type ErrorBody } from '#contract';
import { makeOwnFolder, processEnvironment, type Environment, type Paths } from '#config';
import { readLock, take } from '#runner/lock-file';
import { isAlive } from '#runner/process-identity';
import { readStartupError } from '../startup-error.js';
import { askShutdown } from './ask-shutdown.js';
import { lookForDaemon, type DaemonSeen } from './look-for-daemon.js';
import { daemonProgram, spawnDaemon } from './spawn-daemon.js';

/**
 * A daemon of our version that is ready, started if need be, by one of however many ask at the same moment:
 *
 *   ready, ours ─▶ its socket            ready, of another version ─▶ asked to hand over, awaited ─▶ look again
 *   ready, of the version that lies on disk by now, or of a service with a program of its own ─▶ its socket
 *   starting or stopping ─▶ wait         none ─▶ start.lock ─ taken by another starter ─▶ wait
 *                                                    └ ours ─▶ spawn ─ ready ─▶ its socket
 *                                                                └ left ─▶ the error it wrote down
 *
 * A caller that waited for another's start, which failed, returns that error instead of trying again: 64 callers would
 * try one after another.
 *
 * The package may be replaced while this process lives. From then on the version on disk is the right one and this
 * process is the old one: it must not ask the new daemon to leave.
 */
export type Ensured =
  | {
      ok: true;
      socket: string;
      pid: number;
      /** Started by this call; else it was found running. */
      started: boolean;
    }
  | { ok: false; error: ErrorBody };

export type EnsureOptions = {
  env?: Environment;
  /** dist/daemon.mjs, when it is not where this module looks for it. */
  program?: string;
  /** From the first look until it must be ready, ms. A daemon that is reading a large file of Redis takes long. */
  readyMs?: number;
  /** How long a service gets to bring back its daemon, ms. */
  serviceMs?: number;
};

const READY_MS = 120_000;
/** A service starts its daemon again by itself; one that is started in its place would only have to make way for it. */
const SERVICE_MS = 10_000;
/** While a package is replaced its files are away for a moment. */
const REPLACED_MS = 20_000;
/** What can be wrong with a disk that was right a moment ago. */
const DISK_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota of the disk is used up'],
  ['EROFS', 'the disk is read-only'],
  ['EIO', 'the disk fails'],
  ['EACCES', 'no permission'],
  ['EPERM', 'no permission'],
]);

export async function ensureDaemon(paths: Paths, _config?: Config, options: EnsureOptions = {}): Promise<Ensured> {
  const problem = makeOwnFolder(paths.state);
  if (problem !== null)
    return {
      ok: false,
      error: errorBody('CMO_E_STATE_FOLDER', `the state folder ${paths.state} is not usable: ${problem}`),
    };
  try {
    return await ensureIn(paths, options);
  } catch (error) {
    const why = DISK_ERRORS.get((error as NodeJS.ErrnoException).code ?? '');
    if (why === undefined) throw error;
    return {
      ok: false,
      error: errorBody('CMO_E_STATE_FOLDER', `the state folder ${paths.state} cannot be written: ${why}`, {
        fix: 'make it writable, or free space; agents that run go on',
      }),
    };
  }
}

async function ensureIn(
  paths: Paths,
  { readyMs = READY_MS, serviceMs = SERVICE_MS, program, env = processEnvironment() }: EnsureOptions,
): Promise<Ensured> {
  const find = (): string => program ?? daemonProgram();
  let serviceUntil = 0;
  const known = readStartupError(paths.state)?.stamp;
  const until = performance.now() + readyMs;
  for (let pause = 10; performance.now() < until; pause = Math.min(pause * 2, 200)) {
    const seen = await lookForDaemon(paths);
    if (seen.kind === 'ready' && isRight(seen, find())) return reachable(seen, paths, false);
    if (seen.kind === 'ready') {
      // Of another version: its runs go on, its Redis stays, and the next look finds it stopping or gone.
      await askShutdown(seen.socket, { kill: false, keepRedis: true });
      if (seen.serviceProgram !== null) serviceUntil = performance.now() + serviceMs;
    } else if (seen.kind === 'none' && performance.now() > serviceUntil) {
      const ended = await startUnderLock(paths, find, env, known, until);
      if (ended) return ended;
    }
    await delay(pause);
  }
  const details = [
    `it was not ready within ${Math.round(readyMs / 1000)} s`,
    `its log is ${join(paths.logs, 'daemon.log')}`,
  ];
  return { ok: false, error: errorBody('CMO_E_DAEMON', undefined, { details }) };
}

type Ready = Extract<DaemonSeen, { kind: 'ready' }>;

function isRight({ version, protocol, serviceProgram }: Ready, program: string): boolean {
  if (version === VERSION || version === versionOnDisk(program)) return true;
  // It would come back as it is, however often it is asked to leave: `cmo doctor` says that another program's service
  // runs here.
  return serviceProgram !== null && protocol === PROTOCOL && !isSameFile(serviceProgram, program);
}

/** Of the package that the program belongs to. Null: it can't be told. */
function versionOnDisk(program: string): string | null {
  try {
    const { version } = JSON.parse(readFileSync(join(dirname(program), '..', 'package.json'), 'utf8')) as {
      version?: unknown;
    };
    return typeof version === 'string' ? version : null;
  } catch {
    return null;
  }
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return one === other;
  }
}

/** Null: somebody else is at it, look again. */
async function startUnderLock(
  paths: Paths,
  find: () => string,
  env: Environment,
  known: string | undefined,
  until: number,
): Promise<Ensured | null> {
  const path = join(paths.state, 'start.lock');
  // Reading is cheap, taking writes and syncs a file: of 64 who wait, only those who may succeed try.
  const owner = await readLock(path);
  if (owner?.identity && isAlive(owner.identity)) return null;
  const lock = await take(path);
  if (!lock.taken) return null;
  try {
    const seen = await lookForDaemon(paths);
    if (seen.kind !== 'none') return null;
    // Somebody else's start failed while this one waited for its turn.
    const failed = readStartupError(paths.state);
    if (failed && failed.stamp !== known) return { ok: false, error: failed.error };
    return await startOne(paths, find, env, until);
  } finally {
    await lock.release();
  }
}

async function startOne(paths: Paths, find: () => string, env: Environment, until: number): Promise<Ensured | null> {
  const known = readStartupError(paths.state)?.stamp;
  for (const patience = performance.now() + REPLACED_MS; !existsSync(find()) && performance.now() < patience;)
    await delay(100);
  let daemon;
  try {
    daemon = spawnDaemon(find(), paths, env);
  } catch (error) {
    return { ok: false, error: errorBody('CMO_E_STATE_FOLDER', undefined, { details: [(error as Error).message] }) };
  }
  while (performance.now() < until) {
    const left = daemon.left();
    const seen = await lookForDaemon(paths);
    if (seen.kind === 'ready')
      return seen.daemon.pid === daemon.pid || isRight(seen, find()) ? reachable(seen, paths, true) : null;
    if (left !== null) {
      const failed = readStartupError(paths.state);
      if (failed && failed.stamp !== known) return { ok: false, error: failed.error };
      // It found another daemon at work, and left it alone.
      if (seen.kind === 'busy') return null;
      const details = [
        `it left with ${left}`,
        `its last words are in ${join(paths.logs, 'daemon.err')}, its log is ${join(paths.logs, 'daemon.log')}`,
      ];
      return { ok: false, error: errorBody('CMO_E_DAEMON', 'the daemon could not be started', { details }) };
    }
    await delay(20);
  }
  return null;
}

/**
 * A daemon that was started with another XDG_RUNTIME_DIR or TMPDIR listens elsewhere when the state path is long: a
 * link leads from where this shell looks to where it is.
 */
function reachable(seen: Ready, paths: Paths, started: boolean): Ensured {
  if (seen.socket !== paths.apiSocket && makeOwnFolder(dirname(paths.apiSocket)) === null) {
    try {
      rmSync(paths.apiSocket, { force: true });
      symlinkSync(seen.socket, paths.apiSocket);
    } catch {
      // Another client made it.
    }
  }
  return { ok: true, socket: seen.socket, pid: seen.daemon.pid, started };
}
