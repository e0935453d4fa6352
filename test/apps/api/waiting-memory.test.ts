import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, queueName } from '#store';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());

const COUNT = 400;
const LENGTH = 4_096;
/** Printable characters at random: no text packs worse. */
const prompt = (): string =>
  String.fromCharCode(...crypto.getRandomValues(new Uint8Array(LENGTH)).map((byte) => 32 + (byte % 95)));
const env = Object.fromEntries(
  ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'GOPATH', 'NVM_DIR', 'JAVA_HOME'].map((name) => [
    name,
    `/home/somebody/.local/${name.toLowerCase()}/bin:/usr/bin:/bin`,
  ]),
);

/** Bytes, without the event streams: those are cut at a length, whatever waits. */
async function used(): Promise<number> {
  const streams = [keys.events, `${keys.bull}:${queueName('codex', it.config.nodeId)}:events`];
  const sizes = await Promise.all(
    streams.map(async (name) => Number((await it.redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')) ?? 0)),
  );
  return (
    Number(/used_memory:(\d+)/.exec(await it.redis.info('memory'))?.[1]) - sizes.reduce((sum, size) => sum + size, 0)
  );
}

async function submit(): Promise<void> {
  for (let left = COUNT; left > 0; left -= 100) {
    const dispatches = Array.from({ length: 100 }, () =>
      it.request({ prompt: prompt(), env, role: 'research', batch: 'night', pin: 'codex' }),
    );
    expect((await it.answer('POST', '/v1/dispatches', { dispatches })).ok).toBe(true);
  }
}

test('a waiting dispatch with a prompt of 4 KB takes at most 8 KB of Redis, however badly the prompt packs', async () => {
  // Scripts, tables and clients are there once.
  await submit();
  const before = await used();
  await submit();
  const each = ((await used()) - before) / COUNT;
  expect(each).toBeGreaterThan(LENGTH * 0.8);
  expect(each).toBeLessThanOrEqual(8_192);
});
