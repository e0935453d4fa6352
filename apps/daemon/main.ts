import { rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { ERRORS, errorBody, VERSION, type ErrorBody } from '#contract';
import { configError, loadConfig, makeOwnFolder, processEnvironment, processOptions, processPaths } from '#config';
import { startDaemon, type DaemonParts, type DaemonStart } from './daemon.js';
import { openLog, plainError } from './log.js';
import { pauseAfter, readLastEnd, writeLastEnd } from './last-end.js';
import { daemonEnvironment } from './made-environment.js';
import { ownTurn } from './own-turn.js';
import { writeStartupError } from './startup-error.js';

/** Of a daemon that made way for the next one: whatever keeps a service running starts that. */
const AGAIN = 75;
/**
 * A service manager restarts a failed daemon immediately. What failed now (a full disk, a Redis that is away) will not
 * be right in two seconds, so the daemon waits this long before it exits, ms.
 */
const FAILED_PAUSE_MS = 15_000;

/**
 * `node daemon.mjs --state DIR [--service]`: everything else comes from the config file and the environment, of which
 * no more counts than what a made one has; nothing secret stands in argv. `--service`: something of the box keeps it
 * running.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { state: { type: 'string' }, service: { type: 'boolean', default: false } },
    strict: true,
  });
  const { service } = values;
  const stop = stopSignals();
  const env = {
    ...daemonEnvironment(processEnvironment()),
    ...(values.state !== undefined && { CMO_STATE_DIR: values.state }),
  };
  const paths = processPaths(env);
  const failed = async (error: ErrorBody): Promise<number> => {
    giveUp(paths.state, error);
    if (service) await delay(FAILED_PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    return stop.first() === null ? ERRORS[error.code].exit : 0;
  };

  const unusable = unusableFolder([paths.state, paths.logs]);
  if (unusable) return failed(unusable);
  const loaded = loadConfig(processOptions(env));
  if (!loaded.ok) return failed(configError(loaded.diagnostics));
  const log = openLog(join(paths.logs, 'daemon.log'));
  handleFaults(paths.state, log);
  if (service) await pauseAfterFaults(paths.state, log, stop.signal);
  const start = await startInTurn({ paths, config: loaded.config, env, log, service }, stop.signal);
  if (start === null) return 0;
  if (!start.ok) {
    log.error({ code: start.error.code, details: start.error.details ?? [] }, start.error.message);
    return start.other ? ERRORS[start.error.code].exit : failed(start.error);
  }
  const { daemon } = start;
  // What `cmo down` leaves keeps clients that wait from starting one. It was meant until the service runs again.
  if (service) rmSync(join(paths.state, 'down'), { force: true });
  // A service is mostly stopped to be restarted: Redis stays for the next daemon, as the agents do. `cmo down` ends it.
  stop.each((signal) => void daemon.stop({ kill: false, keepRedis: service, why: signal }));
  const again = await daemon.gone;
  log.info({}, 'gone');
  return again && service ? AGAIN : 0;
}

/** The signals that tell it to stop. One may come before there is a daemon to be told. */
function stopSignals() {
  const stop = new AbortController();
  let first: NodeJS.Signals | null = null;
  const listen = (listener: (signal: NodeJS.Signals) => void): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, listener);
  };
  listen((signal) => {
    first ??= signal;
    stop.abort();
  });
  return {
    signal: stop.signal,
    first: () => first,
    /** Also for one that has come already. */
    each(listener: (signal: NodeJS.Signals) => void): void {
      listen(listener);
      if (first !== null) listener(first);
    },
  };
}

function unusableFolder(folders: readonly string[]): ErrorBody | null {
  for (const folder of folders) {
    const problem = makeOwnFolder(folder);
    if (problem !== null) return errorBody('CMO_E_STATE_FOLDER', `the folder ${folder} is not usable: ${problem}`);
  }
  return null;
}

/** How it ends of a fault of its own, and what it does not end of. */
function handleFaults(state: string, log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error');
    const { name, message } = plainError(error);
    writeLastEnd(state, {
      at: new Date().toISOString(),
      pid: process.pid,
      version: VERSION,
      why: `an uncaught error: ${name}: ${message}`,
    });
    // As after a kill -9: what runs is adopted by the next daemon.
    process.exit(ERRORS.CMO_E_BUG.exit);
  });
  // A promise that was not awaited failed. That is a bug, but the work that waits through the night must not stop for
  // it.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  // It has no terminal; a closed one must not end it.
  process.on('SIGHUP', () => undefined);
}

/** A service's daemon that keeps ending soon after its start begins less and less often. */
async function pauseAfterFaults(state: string, log: Logger, stop: AbortSignal): Promise<void> {
  const pause = pauseAfter(await readLastEnd(state, Date.now()), Date.now());
  if (pause > 0) log.warn({ pause }, 'the last daemons ended soon after their start: this one waits before it begins');
  await delay(pause, undefined, { signal: stop }).catch(() => undefined);
}

/**
 * Starts when it is our turn: a service's daemon waits for the one that is at work, and again should another have been
 * quicker. Null: told to stop before that.
 */
async function startInTurn(parts: DaemonParts, stop: AbortSignal): Promise<DaemonStart | null> {
  const { paths, log, service } = parts;
  for (;;) {
    if (service && !(await ownTurn(paths, log, stop))) return null;
    const start = await startDaemon(parts);
    if (start.ok || !start.other || !service) return start;
  }
}

/** Leaves the error in a file for the clients that wait for the start, and in words in logs/daemon.err. */
function giveUp(state: string, error: ErrorBody): void {
  writeSync(2, `${new Date().toISOString()} ${error.code} ${[error.message, ...(error.details ?? [])].join('; ')}\n`);
  try {
    writeStartupError(state, error);
  } catch {
    // The state folder is what is wrong; the words above are all there is.
  }
}

process.exitCode = await main();
// Nothing may keep a daemon that has left: its lock is free, and the next one may be on its way.
process.exit();
