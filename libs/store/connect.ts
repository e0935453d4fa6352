import { readFileSync } from 'node:fs';
import { Redis, type RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisTarget } from '#contract';

/** Where Redis is: an address as `CMO_REDIS_URL` has it, or the socket of a private one. */
export type RedisAddress = { url: string } | { socket: string };

/**
 * worker: reconnects without end and re-sends what was in flight (scripts are repeatable by design). caller: fails
 * within a second or two, so that a person hears of it; also where Redis takes connections and says nothing.
 */
export type ConnectionKind = 'worker' | 'caller';

const CONNECT_MS = 2_000;
/**
 * The longest single step is a submit of 1,000 dispatches: some tens of milliseconds. What timed out may have been
 * done; every step may be repeated.
 */
const ANSWER_MS = 8_000;

/**
 * Every connection of the project begins here or is a duplicate of one that did. Throws when a file of its TLS can't be
 * read.
 */
export function connect(address: RedisAddress, kind: ConnectionKind, name: string): Redis {
  const redis = new Redis({
    connectionName: `cmo:${name}`,
    ...(kind === 'worker' ? { maxRetriesPerRequest: null } : { maxRetriesPerRequest: 1, commandTimeout: ANSWER_MS }),
    enableReadyCheck: true,
    connectTimeout: CONNECT_MS,
    retryStrategy: pause,
    // A primary that became a replica refuses writes: reconnecting resolves the address again, to the new primary.
    reconnectOnError: (error) => (error.message.startsWith('READONLY ') ? 2 : false),
    ...('url' in address ? optionsOf(address.url) : { path: address.socket }),
  });
  // Without a listener ioredis prints to the console; the connection's owner adds its own.
  redis.on('error', () => {});
  return redis;
}

function pause(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 5), 1_000);
}

type Options = Omit<RedisOptions, 'replyMapping'>;

function optionsOf(url: string): Options {
  const target = parseRedisAddress(url);
  // The configuration was checked by the same function; its text is not repeated, since it may hold a password.
  if (!target) throw new Error('the address of Redis cannot be understood');
  const { where, user, password, db } = target;
  const tls = tlsOf(target);
  const login: Options = {
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    ...(tls && { tls }),
    db,
  };
  switch (where.kind) {
    case 'socket':
      return { ...login, path: where.path };
    case 'host':
      // ioredis asks for IPv4 only by default.
      return { ...login, host: where.host, port: where.port, family: 0 };
    case 'sentinel':
      return {
        ...login,
        sentinels: where.sentinels,
        family: 0,
        name: where.master,
        ...(where.user !== null && { sentinelUsername: where.user }),
        ...(where.password !== null && { sentinelPassword: where.password }),
        ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
        sentinelRetryStrategy: pause,
        // One that accepts and says nothing must not keep us from the next.
        sentinelCommandTimeout: CONNECT_MS,
        // Learns of a failover immediately, not only when the old primary closes.
        failoverDetector: true,
      };
  }
}

function tlsOf({ tls }: RedisTarget): RedisOptions['tls'] | null {
  if (!tls) return null;
  const { ca, cert, key, serverName } = tls;
  return {
    ...(ca !== null && { ca: readFileSync(ca) }),
    ...(cert !== null && { cert: readFileSync(cert) }),
    ...(key !== null && { key: readFileSync(key) }),
    ...(serverName !== null && { servername: serverName }),
  };
}
