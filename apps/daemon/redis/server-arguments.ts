import type { RedisPlace } from './place.js';

/** Options of a private server: no TCP port, a socket of its own, and what is said below of its data. */
export function serverArguments({ folder, socket, log }: RedisPlace): string[] {
  return [
    ['--port', '0'],
    ['--unixsocket', socket],
    ['--unixsocketperm', '600'],
    ['--dir', folder],
    ['--pidfile', `${folder}/redis.pid`],
    ['--logfile', log],
    ['--daemonize', 'no'],
    ['--databases', '1'],
    ...DATA_OPTIONS,
  ].flat();
}

/**
 * What was acknowledged is in the file within a second, and nothing is ever evicted. A dispatch's record and its ticket
 * have members of some hundred bytes: with Redis' own bound of 64 they would lose the compact form of small hashes,
 * 1.3 KB for each dispatch that waits (`npm run bench -- memory`).
 */
export const DATA_OPTIONS: readonly [string, string][] = [
  ['--appendonly', 'yes'],
  ['--appendfsync', 'everysec'],
  ['--save', ''],
  ['--maxmemory-policy', 'noeviction'],
  // Its name in Redis 6; newer ones and Valkey know it too.
  ['--hash-max-ziplist-value', '2048'],
];
