import { CmoError, type LimitsData } from '#contract';
import type { Context } from '../command.js';
import { DaemonClient } from './daemon.js';
import { readMetersFile } from './meters-file.js';

/** A source is asked for five seconds at most, but a login may have to be renewed first. */
const REFRESH_MS = 160_000;

/**
 * What is left, by the daemon that runs, else as the last one wrote it. Null: none has run here, so nothing was ever
 * read.
 */
export async function limitsKnown({ paths }: Pick<Context, 'paths'>): Promise<LimitsData | null> {
  const outcome = await new DaemonClient(paths, undefined, 0).call<LimitsData>({
    method: 'GET',
    path: '/v1/limits',
    timeoutMs: 10_000,
    daemon: 'never',
  });
  return outcome.ok ? outcome.data : readMetersFile(paths);
}

/** What is left, by the vendors, who are asked now: by a daemon, which is started for it. */
export async function limitsAsked({ paths }: Pick<Context, 'paths'>): Promise<LimitsData> {
  const outcome = await new DaemonClient(paths).call<LimitsData>({
    method: 'POST',
    path: '/v1/limits/refresh',
    timeoutMs: REFRESH_MS,
    daemon: 'start',
  });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}
