import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placeOf, projectOf } from '#api';
import { tempFolder } from '../../support/temp.js';

test('a folder that an agent can work in is distinguished from everything else', async () => {
  const folder = tempFolder('place');
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(await placeOf(folder)).toBe('folder');
  expect(await placeOf(file)).toBe('not-a-folder');
  expect(await placeOf(join(file, 'below'))).toBe('not-a-folder');
  expect(await placeOf(join(folder, 'none'))).toBe('missing');
  expect(await placeOf('.')).toBe('relative');
  const shut = join(folder, 'shut');
  mkdirSync(shut, { mode: 0o000 });
  expect(await placeOf(shut)).toBe(process.getuid?.() === 0 ? 'folder' : 'unreadable');
  chmodSync(shut, 0o700);
});

test('a project is named by the nearest repository above, else by the folder itself', async () => {
  const folder = tempFolder('place');
  mkdirSync(join(folder, 'outer', '.git'), { recursive: true });
  mkdirSync(join(folder, 'outer', 'inner', 'deep'), { recursive: true });
  mkdirSync(join(folder, 'plain', 'deep'), { recursive: true });
  expect(await projectOf(join(folder, 'outer', 'inner', 'deep'))).toBe('outer');
  writeFileSync(join(folder, 'outer', 'inner', '.git'), 'gitdir: ../.git/worktrees/inner');
  expect(await projectOf(join(folder, 'outer', 'inner', 'deep'))).toBe('inner');
  expect(await projectOf(join(folder, 'plain', 'deep'))).toBe('deep');
  expect(await projectOf('/')).toBe('/');
});
