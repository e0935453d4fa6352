import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { keys, openRecords, type BlobPlace, type Records } from '#store';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { removeFolder, tempFolder } from '../../support/temp.js';

const ID = 'd-01JE0000000000000000000000';
const HEX_MB = 2 * 1024 * 1024;
let server: TestRedis;
let redis: Redis;
let folder: string;
let here: Records;
let there: Records;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  folder = tempFolder('blobs');
  here = openRecords(redis, place('box-1'));
  there = openRecords(redis, place('box-2'));
});
afterAll(async () => {
  await server.close();
  removeFolder(folder);
});
beforeEach(() => redis.flushall());

const place = (node: string): BlobPlace => ({ folder: join(folder, node), node });
const inRedis = (kind: 'prompt' | 'result'): Promise<number> => redis.strlen(keys.blob(ID, kind));
/** Hex compresses to a half. */
const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

test.each([
  ['nothing', ''],
  ['a word', 'x'],
  ['a text of many letters', 'Zürich – 東京 🎉 '.repeat(2_000)],
  ['a text that does not compress', randomBytes(3_000).toString('latin1')],
  ['half a surrogate', 'a\ud800'],
])('%s comes back as it was put', async (_what, text) => {
  await here.putBlob(ID, 'prompt', text);
  expect(await there.text(ID, 'prompt')).toEqual({ text: Buffer.from(text).toString(), cut: null, file: null });
  expect(await here.blob(ID, 'result')).toBeNull();
});

test('a prompt of 4 KB of prose takes less than half of that in Redis', async () => {
  const prose = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8').slice(0, 4_096);
  await here.putBlob(ID, 'prompt', prose);
  expect(await inRedis('prompt')).toBeLessThan(2_048);
});

test('a text that is too large for Redis is whole on its node, and cut elsewhere with a mark that says where it is', async () => {
  const text = noise(20 * HEX_MB);
  await here.putBlob(ID, 'result', text);
  expect(await inRedis('result')).toBeLessThan(128 * 1024);
  const whole = await here.text(ID, 'result');
  expect([whole?.text === text, whole?.cut, whole?.file]).toEqual([
    true,
    null,
    { bytes: text.length, node: 'box-1', file: `${ID}.result` },
  ]);
  const cut = await there.text(ID, 'result');
  expect(cut?.cut).toEqual({ bytes: text.length, node: 'box-1', file: `${ID}.result` });
  expect(cut?.text.startsWith(text.slice(0, 60_000))).toBe(true);
  expect(
    cut?.text.endsWith(
      `[cmo: cut here. The whole of it, ${text.length} bytes, is blobs/${ID}.result in the state folder of box-1.]`,
    ),
  ).toBe(true);
  expect(await there.blob(ID, 'result')).toBe(cut?.text);
  expect(statSync(join(folder, 'box-1', `${ID}.result`)).mode & 0o077).toBe(0);
  expect(readdirSync(join(folder, 'box-1')).filter((name) => name.startsWith('.new-'))).toEqual([]);
});

test('so is a large text that only compresses well', async () => {
  await here.putBlob(ID, 'result', 'x'.repeat(20 * 1024 * 1024));
  expect((await there.text(ID, 'result'))?.cut?.bytes).toBe(20 * 1024 * 1024);
});

test('if its file is gone, the head is what remains, and it says so', async () => {
  await here.putBlob(ID, 'result', noise(HEX_MB));
  expect(existsSync(join(folder, 'box-1', `${ID}.result`))).toBe(true);
  rmSync(join(folder, 'box-1', `${ID}.result`));
  expect((await here.text(ID, 'result'))?.cut).not.toBeNull();
});

test('without a place everything stays in Redis, whole', async () => {
  const text = noise(HEX_MB);
  await openRecords(redis).putBlob(ID, 'result', text);
  expect((await there.text(ID, 'result'))?.text === text).toBe(true);
});
