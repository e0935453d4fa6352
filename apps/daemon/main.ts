import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ERRORS, errorBody, type ErrorBody } from '#contract';
import { configError, loadConfig, makeOwnFolder, processEnvironment, processOptions, processPaths } from '#config';
import { startDaemon } from './daemon.js';
import { openLog } from './log.js';
import { writeStartupError } from './startup-error.js';

/** `node daemon.mjs --state DIR`: everything else comes from the config file and a made environment; nothing secret stands in argv. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { state: { type: 'string' } }, strict: true });
  const env = { ...processEnvironment(), ...(values.state !== undefined && { CMO_STATE_DIR: values.state }) };
  const paths = processPaths(env);
  for (const folder of [paths.state, paths.logs]) {
    const problem = makeOwnFolder(folder);
    if (problem !== null) return giveUp(paths.state, errorBody('CMO_E_STATE_FOLDER', `the folder ${folder} is not usable: ${problem}`));
  }
  const loaded = loadConfig(processOptions(env));
  if (!loaded.ok) return giveUp(paths.state, configError(loaded.diagnostics));

  const log = openLog(join(paths.logs, 'daemon.log'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught');
    // As after a kill -9: what runs is adopted by the next daemon.
    process.exit(ERRORS.CMO_E_BUG.exit);
  });
  // Something that was started beside the rest failed, and nobody had thought of it: what waits through a night must not wait for that.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a failure that nobody waited for'));
  // It has no terminal; a closed one must not end it.
  process.on('SIGHUP', () => undefined);
  let signalled: NodeJS.Signals | null = null;
  const onSignal = (listener: (signal: NodeJS.Signals) => void): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, listener);
  };
  onSignal((signal) => (signalled ??= signal));

  const start = await startDaemon({ paths, config: loaded.config, env, log });
  if (!start.ok) {
    log.error({ code: start.error.code, details: start.error.details ?? [] }, start.error.message);
    return start.other ? ERRORS[start.error.code].exit : giveUp(paths.state, start.error);
  }
  const { daemon } = start;
  const leave = (signal: NodeJS.Signals): void => void daemon.stop({ kill: false, keepRedis: false, why: signal });
  onSignal(leave);
  if (signalled !== null) leave(signalled);
  await daemon.gone;
  log.info({}, 'gone');
  return 0;
}

/** Told in a file to whoever waits for the start, and in words to the person who looks into logs/daemon.err. */
function giveUp(state: string, error: ErrorBody): number {
  writeSync(2, `${new Date().toISOString()} ${error.code} ${[error.message, ...(error.details ?? [])].join('; ')}\n`);
  try {
    writeStartupError(state, error);
  } catch {
    // The state folder is what is wrong; the words above are all there is.
  }
  return ERRORS[error.code].exit;
}

process.exitCode = await main();
// Nothing may keep a daemon that has left: its lock is free, and the next one may be on its way.
process.exit();
