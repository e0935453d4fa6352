import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Context } from '../command.js';
import { childEnvironmentFor } from '../doctor/child-environment.js';
import type { Place } from './platform.js';

/** All that the service commands do to a box, and ask of it. */
export type ServiceBox = {
  platform: NodeJS.Platform;
  user: string;
  place: Place;
  /** Runs a program to its end, for a bounded time. Its output, and what it reads, have a letter for each byte. */
  run(argv: readonly string[], options?: { input?: string; boundMs?: number }): Ran;
  /** Null: there is none. */
  read(path: string): string | null;
  write(path: string, text: string, mode: number): void;
  remove(path: string): void;
  exists(path: string): boolean;
  /** Starts a program that outlives this one. */
  start(argv: readonly string[]): void;
};

export type Ran = {
  /** False: there is no such program. */
  found: boolean;
  exit: number | null;
  out: string;
  /** The first line of what it said of an error, or why it did not end. */
  why: string;
};

/** Of a question. A bus that hangs must not hang us. */
const QUESTION_MS = 5_000;
const MOST_BYTES = 8 * 1024 * 1024;

export function serviceBox(context: Context): ServiceBox {
  const { env, paths } = context;
  const { uid, username } = userInfo();
  const home = env['HOME'] ?? userInfo().homedir;
  const given = env['XDG_CONFIG_HOME'];
  // Without these two a user's systemd is not found.
  const bus = Object.fromEntries(
    ['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const childEnv = { ...childEnvironmentFor(context, null), ...bus };
  return {
    platform: process.platform,
    user: username,
    place: { home, uid, configHome: given && isAbsolute(given) ? given : join(home, '.config'), config: paths.config },
    run([program = '', ...args], { input = '', boundMs = QUESTION_MS } = {}) {
      const { error, status, signal, stdout, stderr } = spawnSync(program, args, {
        env: childEnv,
        timeout: boundMs,
        maxBuffer: MOST_BYTES,
        input: Buffer.from(input, 'latin1'),
      });
      const code = (error as NodeJS.ErrnoException | undefined)?.code;
      const [said = ''] = (stderr ?? Buffer.alloc(0)).toString('utf8').trim().split('\n');
      // A program that closed its stdin unread has not failed.
      const failed = error !== undefined && code !== 'EPIPE';
      return {
        found: code !== 'ENOENT' && code !== 'EACCES',
        exit: failed ? null : status,
        out: (stdout ?? Buffer.alloc(0)).toString('latin1'),
        why: failed ? error.message : said || (signal === null ? `exit code ${status}` : signal),
      };
    },
    read(path) {
      try {
        return readFileSync(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    write(path, text, mode) {
      mkdirSync(dirname(path), { recursive: true });
      const temp = `${path}.${process.pid}`;
      writeFileSync(temp, text, { mode, flush: true });
      chmodSync(temp, mode);
      renameSync(temp, path);
    },
    remove: (path) => rmSync(path, { force: true }),
    exists: (path) => existsSync(path),
    start([program = '', ...args]) {
      spawn(program, args, { env: childEnv, cwd: '/', detached: true, stdio: 'ignore' }).unref();
    },
  };
}
