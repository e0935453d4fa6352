import type { RedisPlace } from './place.js';

/**
 * Options of a private server: no TCP port, a socket of its own, what it
 * acknowledged is in the file within a second, nothing is ever evicted.
 */
export function serverArguments({ folder, socket, log }: RedisPlace): string[] {
  return [
    ['--port', '0'],
    ['--unixsocket', socket],
    ['--unixsocketperm', '600'],
    ['--dir', folder],
    ['--pidfile', `${folder}/redis.pid`],
    ['--logfile', log],
    ['--daemonize', 'no'],
    ['--appendonly', 'yes'],
    ['--appendfsync', 'everysec'],
    ['--save', ''],
    ['--maxmemory-policy', 'noeviction'],
    ['--databases', '1'],
  ].flat();
}
