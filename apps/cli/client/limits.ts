import { CmoError, errorBody, type LimitsData } from '#contract';
import type { Context } from '../command.js';
import { DaemonClient } from './daemon.js';
import { readMetersFile } from './meters-file.js';

/** A source is asked for five seconds at most, but a login may have to be renewed first. */
const REFRESH_MS = 160_000;

/** What is left: of the daemon that runs, else what the last one wrote. With `refresh` a daemon asks the vendors first, and is started for it. */
export async function limitsOf({ paths }: Pick<Context, 'paths'>, refresh: boolean): Promise<LimitsData> {
  if (refresh) {
    const outcome = await new DaemonClient(paths).call<LimitsData>({ method: 'POST', path: '/v1/limits/refresh', timeoutMs: REFRESH_MS, daemon: 'start' });
    if (!outcome.ok) throw new CmoError(outcome.error);
    return outcome.data;
  }
  const outcome = await new DaemonClient(paths, undefined, 0).call<LimitsData>({ method: 'GET', path: '/v1/limits', timeoutMs: 10_000, daemon: 'never' });
  if (outcome.ok) return outcome.data;
  const file = readMetersFile(paths);
  if (file === null) throw new CmoError(errorBody('CMO_E_DAEMON', 'no meter was ever read here, and no daemon runs', { fix: '`cmo limits --refresh` starts one and asks' }));
  return file;
}
