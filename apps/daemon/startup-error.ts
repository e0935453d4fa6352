import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorBody, isErrorCode, type ErrorBody } from '#contract';

/** Why the last start of a daemon came to nothing: written by the daemon, read by whoever waits for it. Absent while one runs. */
export function startupErrorPath(state: string): string {
  return join(state, 'daemon.error.json');
}

export function writeStartupError(state: string, error: ErrorBody): void {
  const path = startupErrorPath(state);
  const temp = `${path}.${process.pid}`;
  writeFileSync(temp, JSON.stringify({ schema: 'cmo.startup-error/1', pid: process.pid, error }), { mode: 0o600 });
  renameSync(temp, path);
}

export function clearStartupError(state: string): void {
  rmSync(startupErrorPath(state), { force: true });
}

/** @param since ms since the epoch by the file system's clock; an older error is of another start. Null: none. */
export function readStartupError(state: string, since: number): ErrorBody | null {
  try {
    const path = startupErrorPath(state);
    if (statSync(path).mtimeMs < since) return null;
    const { error } = JSON.parse(readFileSync(path, 'utf8')) as { error?: Partial<ErrorBody> };
    if (error?.code === undefined || !isErrorCode(error.code) || typeof error.message !== 'string') return null;
    return { ...errorBody(error.code), ...error };
  } catch {
    return null;
  }
}
