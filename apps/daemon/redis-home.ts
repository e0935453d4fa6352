import type { Log } from '#api';
import type { Environment, Paths } from '#config';
import type { Config, ErrorBody, StatusData } from '#contract';
import { findExecutable } from '#runner/find-executable';
import { connect, type RedisAddress } from '#store';
import type { Leaving } from './life.js';
import { serverEnvironment } from './made-environment.js';
import { checkForeignRedis } from './redis/foreign-redis.js';
import { keepRedis } from './redis/keeper.js';
import { redisPlaceOf, REDIS_PATIENCE } from './redis/place.js';
import { ensurePrivateRedis, stopPrivateRedis, type RedisFound } from './redis/private-redis.js';

/** The Redis of this daemon: its own private one, or yours. */
export type RedisHome = {
  address: RedisAddress;
  about(): StatusData['redis'];
  /**
   * A private one goes with its daemon, unless the next one is about to come or it was there before a start that
   * failed.
   */
  leave(leaving: Leaving): Promise<void>;
};

export type RedisHomeFound = { ok: true; home: RedisHome } | { ok: false; error: ErrorBody };

export type RedisHomeParts = { paths: Paths; config: Config; env: Environment; log: Log };

/** CMO_REDIS_URL, else a private one. */
export function findRedis(parts: RedisHomeParts): Promise<RedisHomeFound> {
  return parts.config.redisUrl === null ? privateHome(parts) : foreignHome(parts.config.redisUrl, parts.log);
}

async function foreignHome(url: string, log: Log): Promise<RedisHomeFound> {
  const found = await checkForeignRedis(url);
  if (!found.ok) return found;
  const { address, version, warnings } = found;
  for (const warning of warnings) log.warn({ redis: address }, warning);
  return {
    ok: true,
    home: {
      address: { url },
      about: () => ({ private: false, address, pid: null, version, warnings }),
      leave: () => Promise.resolve(),
    },
  };
}

async function privateHome({ paths, env, log }: RedisHomeParts): Promise<RedisHomeFound> {
  const place = redisPlaceOf(paths);
  const path = env['PATH'] ?? '';
  const program = findExecutable('redis-server', path) ?? findExecutable('valkey-server', path);
  const ensure = (): Promise<RedisFound> =>
    ensurePrivateRedis({ place, program, env: serverEnvironment(env), patience: REDIS_PATIENCE, log });
  const first = await ensure();
  if (!first.ok) return first;
  const { socket, started } = first.redis;
  let { pid } = first.redis;

  const keeper = keepRedis(ensure, log, (redis) => {
    if (redis.pid !== pid) log.warn({ was: pid, redisPid: redis.pid }, 'the private Redis had died and is up again');
    pid = redis.pid;
  });
  // Nothing is sent on this connection: its close shows immediately that the server has gone.
  const sentinel = connect({ socket }, 'worker', 'keeper');
  sentinel.on('close', () => keeper.kick());
  return {
    ok: true,
    home: {
      address: { socket },
      about: () => ({ private: true, address: socket, pid, version: null, warnings: [] }),
      async leave({ keepRedis: keep, failedStart }) {
        const stopping = keeper.stop();
        sentinel.disconnect();
        await stopping;
        if (keep || (failedStart && !started)) return;
        if (!(await stopPrivateRedis(place, REDIS_PATIENCE)))
          log.error({ redisPid: pid }, 'the private Redis did not leave');
      },
    },
  };
}
