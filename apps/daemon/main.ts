import { rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ERRORS, errorBody, VERSION, type ErrorBody } from '#contract';
import { configError, loadConfig, makeOwnFolder, processEnvironment, processOptions, processPaths } from '#config';
import { startDaemon } from './daemon.js';
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
  const stop = new AbortController();
  let signalled: NodeJS.Signals | null = null;
  const onSignal = (listener: (signal: NodeJS.Signals) => void): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, listener);
  };
  onSignal((signal) => {
    signalled ??= signal;
    stop.abort();
  });
  const failed = async (state: string, error: ErrorBody): Promise<number> => {
    giveUp(state, error);
    if (service) await delay(FAILED_PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    return signalled === null ? ERRORS[error.code].exit : 0;
  };

  const env = {
    ...daemonEnvironment(processEnvironment()),
    ...(values.state !== undefined && { CMO_STATE_DIR: values.state }),
  };
  const paths = processPaths(env);
  for (const folder of [paths.state, paths.logs]) {
    const problem = makeOwnFolder(folder);
    if (problem !== null)
      return failed(paths.state, errorBody('CMO_E_STATE_FOLDER', `the folder ${folder} is not usable: ${problem}`));
  }
  const loaded = loadConfig(processOptions(env));
  if (!loaded.ok) return failed(paths.state, configError(loaded.diagnostics));

  const log = openLog(join(paths.logs, 'daemon.log'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error');
    const { name, message } = plainError(error);
    writeLastEnd(paths.state, {
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

  if (service) {
    const pause = pauseAfter(await readLastEnd(paths.state, Date.now()), Date.now());
    if (pause > 0)
      log.warn({ pause }, 'the last daemons ended soon after their start: this one waits before it begins');
    await delay(pause, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  let start;
  do {
    if (service && !(await ownTurn(paths, log, stop.signal))) return 0;
    start = await startDaemon({ paths, config: loaded.config, env, log, service });
  } while (service && !start.ok && start.other);
  if (!start.ok) {
    log.error({ code: start.error.code, details: start.error.details ?? [] }, start.error.message);
    return start.other ? ERRORS[start.error.code].exit : failed(paths.state, start.error);
  }
  const { daemon } = start;
  // What `cmo down` leaves keeps clients that wait from starting one. It was meant until the service runs again.
  if (service) rmSync(join(paths.state, 'down'), { force: true });
  // A service is mostly stopped to be restarted: Redis stays for the next daemon, as the agents do. `cmo down` ends it.
  const leave = (signal: NodeJS.Signals): void => void daemon.stop({ kill: false, keepRedis: service, why: signal });
  onSignal(leave);
  if (signalled !== null) leave(signalled);
  const again = await daemon.gone;
  log.info({}, 'gone');
  return again && service ? AGAIN : 0;
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
