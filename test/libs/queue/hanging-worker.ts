import { Redis } from 'ioredis';
import type { Config } from '#contract';
import { openStation } from './station.js';

/** A worker that fetches a ticket, says so under the key `fetched`, and never opens it: to be killed. */
const [socket = '', config = ''] = process.argv.slice(2);
const redis = new Redis({ path: socket, maxRetriesPerRequest: null });
await openStation(redis, {
  config: JSON.parse(config) as Config,
  async fetched(id) {
    await redis.rpush('fetched', id);
    await new Promise(() => {});
  },
});
process.stdout.write('ready\n');
