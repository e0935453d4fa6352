import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { processEnvironment, type Environment } from './environment.js';

const NAME = 'cross-model-orchestrate';

/**
 * A unix socket's path must fit `sun_path`: 104 bytes on macOS, 108 on Linux, with its final NUL. Past this bound the
 * sockets move to a short folder; a truncated path would be somebody else's socket.
 */
export const SOCKET_PATH_BYTES = 100;

/** Absolute paths of everything cmo keeps. `state` must outlive a reboot; only `cache` may be deleted. */
export type Paths = {
  state: string;
  redis: string;
  runs: string;
  blobs: string;
  receipts: string;
  logs: string;
  /** Folder of the sockets: `<state>/sockets`, or a short one when that path is too long for a socket. */
  sockets: string;
  apiSocket: string;
  redisSocket: string;
  config: string;
  configFile: string;
  cache: string;
};

export type Box = { home: string; temp: string };

export function pathsOf(env: Environment, box: Box): Paths {
  const state = folder(env['CMO_STATE_DIR'], env['XDG_STATE_HOME'], join(box.home, '.local', 'state'));
  const config = folder(env['CMO_CONFIG_DIR'], env['XDG_CONFIG_HOME'], join(box.home, '.config'));
  const cache = cacheFolder(env, box.home);
  const sockets = socketFolder(state, env['XDG_RUNTIME_DIR'], box.temp);
  return {
    state,
    redis: join(state, 'redis'),
    runs: join(state, 'runs'),
    blobs: join(state, 'blobs'),
    receipts: join(state, 'receipts'),
    logs: join(state, 'logs'),
    sockets,
    apiSocket: join(sockets, 'api.sock'),
    redisSocket: join(sockets, 'redis.sock'),
    config,
    configFile: join(config, 'config.json'),
    cache,
  };
}

export function processPaths(env: Environment = processEnvironment()): Paths {
  return pathsOf(env, { home: env['HOME'] || homedir(), temp: tmpdir() });
}

/** Only that one: for who is in a hurry. */
export function processCacheFolder(env: Environment = processEnvironment()): string {
  return cacheFolder(env, env['HOME'] || homedir());
}

function cacheFolder(env: Environment, home: string): string {
  return folder(env['CMO_CACHE_DIR'], env['XDG_CACHE_HOME'], join(home, '.cache'));
}

/**
 * A relative XDG folder is ignored, as its specification says; a relative CMO_*_DIR is a problem that loadConfig names.
 */
function folder(own: string | undefined, xdg: string | undefined, fallback: string): string {
  if (own) return resolve(own);
  return join(xdg && isAbsolute(xdg) ? xdg : fallback, NAME);
}

function socketFolder(state: string, runtime: string | undefined, temp: string): string {
  const plain = join(state, 'sockets');
  const longest = 'redis.sock'.length + 1;
  const fits = (path: string): boolean => Buffer.byteLength(path) + longest <= SOCKET_PATH_BYTES;
  if (fits(plain)) return plain;
  const name = `cmo-${shortHash(state)}`;
  if (runtime && isAbsolute(runtime) && fits(join(runtime, name))) return join(runtime, name);
  return join(temp, name);
}

/**
 * FNV-1a, 64 bits: a name for a folder of ours, no secret. (node:crypto would cost every start of `cmo` two
 * milliseconds.)
 */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
