import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keys, listen, watchChanges } from '#store';
import { testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { waitUntil } from '../../support/wait-until.js';
import { failed, openDesk, retrying } from '../queue/desk.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

describe('changes', () => {
  test('name every dispatch whose record changed, each time it did', async () => {
    const desk = openDesk(redis, testConfig());
    await desk.meter(1);
    const changes = await watchChanges(server.client());
    const heard: string[] = [];
    changes.on((id) => heard.push(id));
    const [one, two] = [await desk.submit(), await desk.submit()];
    await desk.queue.cancel(two.id);
    const running = await desk.run(one);
    await desk.deliver(running, { next: retrying(running, Date.now() + 60_000) });
    await desk.transitions.change(await desk.read(one.id), failed);
    await waitUntil(() => heard.length === 6);
    expect(heard).toEqual([one.id, two.id, two.id, one.id, one.id, one.id]);
    const events = await redis.xrange(keys.events, '-', '+');
    expect(events.map(([, fields]) => fields?.[3])).toEqual([
      'submitted',
      'submitted',
      'cancelled',
      'started',
      'retried',
      'failed',
    ]);
    await changes.close();
    await desk.close();
  });

  test('reach every listener until it goes', async () => {
    const changes = await watchChanges(server.client());
    const [first, second]: string[][] = [[], []];
    const go = changes.on((id) => first?.push(id));
    changes.on((id) => second?.push(id));
    await redis.publish(keys.channels.changed, 'a');
    await waitUntil(() => second?.length === 1);
    go();
    await redis.publish(keys.channels.changed, 'b');
    await waitUntil(() => second?.length === 2);
    expect(first).toEqual(['a']);
    await changes.close();
  });

  test('that were missed while Redis was away are owned up to, once it can be heard again', async () => {
    const own = await startRedis();
    const changes = await watchChanges(own.client());
    const heard: string[] = [];
    let again = 0;
    changes.on((id) => heard.push(id));
    changes.onAgain(() => (again += 1));
    await own.restart();
    await waitUntil(() => again === 1);
    // What is sent from here on is heard: the subscription stood before anybody was told.
    await own.client().publish(keys.channels.changed, 'after');
    await waitUntil(() => heard.length === 1);
    expect(heard).toEqual(['after']);
    await changes.close();
    await own.close();
  });

  test('are silent after the close, also when Redis comes back', async () => {
    const own = await startRedis();
    const changes = await watchChanges(own.client());
    let told = 0;
    changes.on(() => (told += 1));
    changes.onAgain(() => (told += 1));
    await changes.close();
    await own.restart();
    await own.client().publish(keys.channels.changed, 'x');
    expect(await own.client().pubsub('NUMSUB', keys.channels.changed)).toEqual([keys.channels.changed, 0]);
    expect(told).toBe(0);
    await own.close();
  });
});

test('listening to a Redis that cannot be reached fails for a caller', async () => {
  const own = await startRedis();
  const caller = own.client().duplicate({ maxRetriesPerRequest: 0 });
  caller.on('error', () => undefined);
  await own.kill();
  await expect(
    listen(
      caller,
      'test',
      'channel',
      () => {},
      () => {},
    ),
  ).rejects.toThrow();
  caller.disconnect();
  await own.close();
});
