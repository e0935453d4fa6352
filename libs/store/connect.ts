import { Redis } from 'ioredis';

/** Where Redis is: a URL (`redis://`, `rediss://`) or a unix socket. */
export type RedisAddress = { url: string } | { socket: string };

/**
 * worker: reconnects without end and re-sends what was in flight (scripts are repeatable by design).
 * caller: fails within a second or two, so that a person hears of it.
 */
export type ConnectionKind = 'worker' | 'caller';

export function connect(address: RedisAddress, kind: ConnectionKind, name: string): Redis {
  const options = {
    connectionName: `cmo:${name}`,
    maxRetriesPerRequest: kind === 'worker' ? null : 1,
    enableReadyCheck: true,
    connectTimeout: 2_000,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 5), 1_000),
  };
  const redis = 'url' in address ? new Redis(address.url, options) : new Redis({ ...options, path: address.socket });
  // Without a listener ioredis prints to the console; whoever owns the connection adds its own.
  redis.on('error', () => {});
  return redis;
}
