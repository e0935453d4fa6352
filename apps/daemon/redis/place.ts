import { join } from 'node:path';
import type { Paths } from '#config';

/** Where a private Redis keeps its things; absolute paths. `lock` names the process that owns `folder`. */
export type RedisPlace = { folder: string; socket: string; log: string; lock: string };

export function redisPlaceOf(paths: Pick<Paths, 'state' | 'redis' | 'redisSocket' | 'logs'>): RedisPlace {
  return {
    folder: paths.redis,
    socket: paths.redisSocket,
    log: join(paths.logs, 'redis.log'),
    lock: join(paths.state, 'redis.lock'),
  };
}

/** Durations in ms. */
export type RedisPatience = {
  /** A starting server that says nothing gets this long. */
  startMs: number;
  /** One that is reading its append-only file gets this long. */
  loadingMs: number;
  /** A living owner that answers on no socket gets this long before it is asked to leave. */
  quietMs: number;
  /** A server that was asked to leave writes and closes its file first. It is never killed. */
  leaveMs: number;
};

export const REDIS_PATIENCE: RedisPatience = { startMs: 20_000, loadingMs: 300_000, quietMs: 3_000, leaveMs: 60_000 };

export type PrivateRedis = {
  socket: string;
  pid: number;
  /** Started by this call; else it was found running. */
  started: boolean;
};
