import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorBody, isErrorCode, type ErrorBody } from '#contract';

/**
 * Why the last start of a daemon failed: written by the daemon, read by the clients that wait for it. Absent while one
 * runs. The stamp tells one failure from the next, which a file's time can't within a tick of the clock.
 */
export type StartupError = { stamp: string; error: ErrorBody };

function pathIn(state: string): string {
  return join(state, 'daemon.error.json');
}

export function writeStartupError(state: string, error: ErrorBody): void {
  const path = pathIn(state);
  const temp = `${path}.${process.pid}`;
  try {
    writeFileSync(temp, JSON.stringify({ schema: 'cmo.startup-error/1', stamp: randomUUID(), error }), { mode: 0o600 });
    renameSync(temp, path);
  } catch (failed) {
    // On a full disk each try would leave an empty one.
    rmSync(temp, { force: true });
    throw failed;
  }
}

export function clearStartupError(state: string): void {
  rmSync(pathIn(state), { force: true });
}

/** Null: there is none, or it can't be read. */
export function readStartupError(state: string): StartupError | null {
  try {
    const { stamp, error } = JSON.parse(readFileSync(pathIn(state), 'utf8')) as {
      stamp?: unknown;
      error?: Partial<ErrorBody>;
    };
    if (
      typeof stamp !== 'string' ||
      error?.code === undefined ||
      !isErrorCode(error.code) ||
      typeof error.message !== 'string'
    )
      return null;
    return { stamp, error: { ...errorBody(error.code), ...error } };
  } catch {
    return null;
  }
}
