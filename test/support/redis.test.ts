import { existsSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from './processes.js';
import { startRedis } from './redis.js';

const redis = await startRedis();
afterAll(() => redis.close());

test('what a stopped or killed Redis acknowledged a second ago is there again', async () => {
  const client = redis.client();
  await client.set('a', '1');
  await redis.stop();
  await redis.start();
  expect(await client.get('a')).toBe('1');
  const first = redis.pid();
  await redis.restart();
  expect(await client.get('a')).toBe('1');
  expect(isAlive(first)).toBe(false);
});

test('a closed Redis leaves neither a process nor a folder', async () => {
  const other = await startRedis();
  const pid = other.pid();
  await other.close();
  expect(isAlive(pid)).toBe(false);
  expect(existsSync(other.folder)).toBe(false);
});
