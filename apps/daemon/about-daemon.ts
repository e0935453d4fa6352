import type { ApiResources } from '#api';
import { CmoError, errorBody } from '#contract';
import type { Worker } from '#worker';
import type { Life } from './life.js';
import type { RedisHome } from './redis-home.js';

const STARTING = 'the daemon is just starting';

/** What the HTTP interface asks of the daemon itself. `worker` answers null until it has started. */
export function aboutDaemon(
  { home, service, life }: { home: RedisHome; service: boolean; life: Life },
  worker: () => Worker | null,
): ApiResources['daemon'] {
  const startedAt = new Date().toISOString();
  return {
    about: () =>
      Promise.resolve({
        pid: process.pid,
        service,
        startedAt,
        running: worker()?.runningCount() ?? 0,
        redis: home.about(),
      }),
    collectGarbage: (dryRun) =>
      worker()?.collectGarbage(dryRun) ?? Promise.reject(new CmoError(errorBody('CMO_E_DAEMON', STARTING))),
    health: () => worker()?.health() ?? { problems: [STARTING], lanes: [] },
    shutdown: ({ kill, keepRedis }) => void life.stop({ kill, keepRedis, why: 'it was asked to', again: keepRedis }),
  };
}
