import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync, fstatSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { errorBody, type ErrorBody } from '#contract';
import { answersWithin, serverPid } from './probe.js';
import type { RedisPatience, RedisPlace } from './place.js';
import { serverArguments } from './server-arguments.js';

export type ServerStart = { ok: true; pid: number } | { ok: false; error: ErrorBody };

/**
 * Starts a server of our own and waits until it answers. Only under redis.lock, and only when no living server was
 * found on the folder. Detached, with an environment without any mark: it outlives the daemon, and no agent's sweep
 * finds it. A failed start leaves no process and no socket.
 */
export async function startServer(
  program: string,
  place: RedisPlace,
  env: Record<string, string>,
  patience: RedisPatience,
): Promise<ServerStart> {
  const log = openSync(place.log, 'a', 0o600);
  const from = fstatSync(log).size;
  // The server's files must be private; agents must not inherit this mask, so it is set around the fork only.
  const mask = process.umask(0o077);
  const child = spawn(program, serverArguments(place), {
    detached: true,
    cwd: place.folder,
    env,
    stdio: ['ignore', log, log],
  });
  process.umask(mask);
  let left: string | null = null;
  child.once('error', (error) => (left = `it can't be run: ${error.message}`));
  child.once(
    'exit',
    (code, signal) => (left ??= signal === null ? `it left with exit code ${code}` : `it left on ${signal}`),
  );
  child.unref();
  const up = await answersWithin(place.socket, {
    quietMs: patience.startMs,
    loadingMs: patience.loadingMs,
    over: () => left !== null,
  });
  const pid = up ? ((await serverPid(place.socket)) ?? child.pid) : undefined;
  if (pid !== undefined && left === null) {
    closeSync(log);
    return { ok: true, pid };
  }
  const why = left ?? `it did not answer on ${place.socket} within ${patience.startMs / 1000} s`;
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    for (let waited = 0; waited < 2_000 && child.exitCode === null && child.signalCode === null; waited += 50)
      await delay(50);
    child.kill('SIGKILL');
  }
  rmSync(place.socket, { force: true });
  const words = textAfter(place.log, from);
  closeSync(log);
  const details = [`${program}: ${why}`, ...words, `its log is ${place.log}`];
  return { ok: false, error: errorBody('CMO_E_REDIS', 'the private Redis cannot be started', { details }) };
}

/** The last lines that this start wrote, capped. */
function textAfter(path: string, from: number): string[] {
  const file = openSync(path, 'r');
  try {
    const size = fstatSync(file).size;
    const start = Math.max(from, size - 4_000);
    const bytes = Buffer.alloc(Math.max(0, size - start));
    readSync(file, bytes, 0, bytes.length, start);
    return bytes
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .slice(-5)
      .map((line) => line.slice(0, 300));
  } finally {
    closeSync(file);
  }
}
