import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keys, openRecords } from '#store';
import { openBox, type Box } from '../../support/box.js';

const ANSWERS = new URL('../../fixtures/bin/codex-answers-from-a-file', import.meta.url).pathname;
let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 300, killGraceMs: 1_000 } });
});
afterEach(() => box.close());

test('an answer of 20 MB is whole on its node, and Redis has its head', async () => {
  const text = randomBytes(10 * 1024 * 1024).toString('hex');
  const file = join(box.stateDir, 'answer');
  writeFileSync(file, text);
  const [codex] = box.config.lanes.filter(({ id }) => id === 'codex');
  if (!codex) throw new Error('no codex');
  codex.command = ANSWERS;
  codex.env = { ...codex.env, CMO_TEST_ANSWER: file };
  await box.start();
  const id = await box.submit('at length', { lane: 'codex', access: 'read' });
  expect((await box.ended(id)).state).toBe('succeeded');
  expect((await box.records.text(id, 'result'))?.text === text).toBe(true);
  expect(readFileSync(join(box.stateDir, 'blobs', `${id}.result`), 'utf8') === text).toBe(true);
  expect(await box.redis.strlen(keys.blob(id, 'result'))).toBeLessThan(128 * 1024);
  expect((await openRecords(box.redis, { folder: '/nowhere', node: 'another' }).text(id, 'result'))?.cut?.bytes).toBe(
    text.length,
  );
}, 40_000);

test('a prompt that is too large for Redis reaches its agent whole', async () => {
  const text = `${randomBytes(600_000).toString('hex')} the end [[sim:echo]]`;
  await box.start();
  const id = await box.submit(text, { lane: 'claude' });
  expect((await box.ended(id)).state).toBe('succeeded');
  expect(readdirSync(join(box.stateDir, 'blobs'))).toEqual([expect.stringMatching(`^${id}\\.prompt\\.`)]);
  expect(await box.records.blob(id, 'result')).toContain('the end');
});

test('a dispatch whose task is gone ends, and its ticket is not opened for ever', async () => {
  const id = await box.submit(`${randomBytes(600_000).toString('hex')} [[sim:echo]]`, { lane: 'claude' });
  for (const file of readdirSync(join(box.stateDir, 'blobs'))) rmSync(join(box.stateDir, 'blobs', file));
  await box.start();
  const record = await box.ended(id);
  expect(record).toMatchObject({ state: 'failed', history: [], error: { code: 'CMO_E_FAILED' } });
  expect(record.error?.message).toContain('its prompt is not here');
});
