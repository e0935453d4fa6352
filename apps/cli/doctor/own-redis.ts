import { createConnection } from 'node:net';
import { parseRedisAddress, shownRedisAddress, type RedisTarget } from '#contract';
import { fail, ok, type Row } from './row.js';

const REACH_MS = 3_000;

/**
 * A Redis that you run yourself: whether anything accepts connections there. No more than that, since no Redis client
 * is loaded for this; the daemon checks its settings and permissions when it starts.
 */
export async function ownRedis(url: string): Promise<Row> {
  const where = parseRedisAddress(url)?.where;
  const shown = shownRedisAddress(url);
  const unreachable = (why: string): Row =>
    fail('redis', `your own, at ${shown}: ${why}`, 'start it, or fix redisUrl (CMO_REDIS_URL)');
  if (where === undefined) return unreachable('that is not an address');
  const answers = await Promise.all(doorsOf(where).map(knock));
  const refused = answers.flatMap((answer) => answer ?? []);
  return refused.length === answers.length
    ? unreachable([...new Set(refused)].join('; '))
    : ok('redis', `your own, at ${shown}: it accepts connections`);
}

type Door = { path: string } | { host: string; port: number };

function doorsOf(where: RedisTarget['where']): Door[] {
  switch (where.kind) {
    case 'socket':
      return [{ path: where.path }];
    case 'host':
      return [{ host: where.host, port: where.port }];
    case 'sentinel':
      return where.sentinels;
  }
}

/** Why nothing takes connections there; null: something does. */
function knock(door: Door): Promise<string | null> {
  return new Promise((resolve) => {
    const connection = createConnection(door);
    const settle = (why: string | null): void => {
      connection.removeAllListeners();
      connection.on('error', () => undefined);
      connection.destroy();
      resolve(why);
    };
    connection.setTimeout(REACH_MS, () => settle(`no answer within ${REACH_MS / 1000} s`));
    connection.once('connect', () => settle(null));
    // Of several addresses that were tried, the error has a code and no words.
    connection.once('error', (error: NodeJS.ErrnoException) => settle(error.message || (error.code ?? error.name)));
  });
}
