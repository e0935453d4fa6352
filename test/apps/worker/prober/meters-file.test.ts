import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LimitsData, MetersFile } from '#contract';
import { metersFile } from '#worker/prober/meters-file';
import { tempFolder } from '../../../support/temp.js';
import { sleep, waitUntil } from '../../../support/wait-until.js';

const picture = (node: string, writtenAt = 0): LimitsData => ({
  node,
  writtenAt: new Date(writtenAt).toISOString(),
  pressure: { tight: 65, critical: 85, exhausted: 95 },
  accounts: [],
});
const never = (error: unknown): void => {
  throw error;
};

test('meters.json is written at once, then at most once a second, and what was offered last is what stands there', async () => {
  const folder = tempFolder('meters');
  const path = join(folder, 'meters.json');
  const read = (): MetersFile => JSON.parse(readFileSync(path, 'utf8')) as MetersFile;
  const file = metersFile(folder, never);
  file.offer(picture('first'));
  await waitUntil(() => readdirSync(folder).includes('meters.json'));
  expect(read()).toEqual({ schema: 'cmo.meters/1', ...picture('first') });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const inode = statSync(path).ino;
  for (let i = 0; i < 20; i++) file.offer(picture(`later ${i}`));
  expect(statSync(path).ino).toBe(inode);
  await waitUntil(() => read().node === 'later 19');
  file.offer(picture('owed at the end'));
  await file.stop();
  expect(read().node).toBe('owed at the end');
  expect(readdirSync(folder)).toEqual(['meters.json']);
});

test('a picture that differs only in its own time is not a change, nor is one that changed back before its turn', async () => {
  const folder = tempFolder('meters');
  const file = metersFile(folder, never);
  file.offer(picture('same', 1));
  file.offer(picture('other', 2));
  file.offer(picture('same', 3));
  await sleep(1_200);
  await file.stop();
  expect(JSON.parse(readFileSync(join(folder, 'meters.json'), 'utf8'))).toMatchObject({
    node: 'same',
    writtenAt: new Date(1).toISOString(),
  });
});

test('a missing folder is reported and ends nothing', async () => {
  const told: unknown[] = [];
  const file = metersFile(join(tempFolder('meters'), 'gone'), (error) => void told.push(error));
  file.offer(picture('x'));
  await file.stop();
  expect(told).toHaveLength(1);
});
