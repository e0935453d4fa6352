import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '#contract';
import { connect } from '#store';
import type { Redis } from 'ioredis';
import type { Life } from './life.js';
import { takeNodeLease } from './node-lease.js';
import { claimLayout } from './redis/layout.js';
import { findRedis, type RedisHome, type RedisHomeParts } from './redis-home.js';

export type RedisConnections =
  | {
      ok: true;
      home: RedisHome;
      /** Waits for a Redis that is away. */
      forWorker: Redis;
      /** Fails while Redis is away, so that a request gets an answer. */
      forApi: Redis;
    }
  | { ok: false; error: ErrorBody };

/** Finds or starts Redis, connects, and takes this node's lease in it. */
export async function openRedis(parts: RedisHomeParts, life: Life): Promise<RedisConnections> {
  const { paths, config, log } = parts;
  const redis = await findRedis(parts);
  if (!redis.ok) return redis;
  const { home } = redis;
  life.onLeave('redis', (leaving) => home.leave(leaving), null);
  const forWorker = connect(home.address, 'worker', 'worker');
  const forApi = connect(home.address, 'caller', 'api');
  life.onLeave('connections', () => [forWorker, forApi].forEach((connection) => connection.disconnect()));
  const layout = await claimLayout(forApi);
  if (layout) return { ok: false, error: layout };
  const lease = await takeNodeLease({
    redis: forWorker,
    node: config.nodeId,
    stateDir: paths.state,
    leaseMs: config.timing.nodeLeaseMs,
    renewMs: config.timing.nodeRenewMs,
    nonce: randomUUID(),
    onLost: (holder) => {
      log.error({ holder }, 'another worker holds the lease of this node');
      void life.stop({ kill: false, keepRedis: false, why: 'the lease of this node is lost', again: true });
    },
  });
  if (!lease.ok) return lease;
  life.onLeave('node lease', () => lease.lease.release());
  return { ok: true, home, forWorker, forApi };
}
