import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mendAppendOnly } from '#daemon/redis/mend-append-only';
import { tempFolder } from '../../../support/temp.js';

const command = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
const hole = (bytes: number): string => '\0'.repeat(bytes);

function folderWith(text: string): { folder: string; file: string } {
  const folder = tempFolder('aof');
  const file = join(folder, 'appendonlydir', 'appendonly.aof.2.incr.aof');
  mkdirSync(join(folder, 'appendonlydir'));
  writeFileSync(file, text);
  return { folder, file };
}

const first = command('SELECT', '0') + command('SET', 'a', 'é\r\n*1\r\n');
const second = command('MULTI') + command('SET', 'nul', hole(3)) + command('EXEC');

test('holes between commands are taken out, and what follows them is kept', async () => {
  const { folder, file } = folderWith(first + hole(316) + second + hole(5) + first);
  const [mended, ...more] = await mendAppendOnly(folder, 0);
  expect(more).toEqual([]);
  expect(mended).toMatchObject({ file, bytes: 321 });
  expect(readFileSync(file, 'utf8')).toBe(first + second + first);
  expect(readFileSync(mended?.kept ?? '', 'utf8')).toContain(hole(316));
});

test('a hole at the end is removed, and a command cut off there is left to Redis', async () => {
  const ended = folderWith(first + hole(4096));
  expect(await mendAppendOnly(ended.folder, 0)).toMatchObject([{ bytes: 4096 }]);
  expect(readFileSync(ended.file, 'utf8')).toBe(first);
  const cut = folderWith(first + hole(7) + second.slice(0, -9));
  await mendAppendOnly(cut.folder, 0);
  expect(readFileSync(cut.file, 'utf8')).toBe(first + second.slice(0, -9));
});

test.each([
  ['a whole file', first + second],
  ['an empty file', ''],
  ['bytes that are no command', `${first}rubbish${second}`],
  ['a hole beside other damage', `${first}${hole(9)}rubbish${second}`],
  ['a length that is none', `${first}*1\r\n$x\r\nPING\r\n${hole(9)}${second}`],
])('%s is not touched', async (_what, text) => {
  const { folder, file } = folderWith(text);
  expect(await mendAppendOnly(folder, 0)).toEqual([]);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(readdirSync(folder)).toEqual(['appendonlydir']);
});

test('a file larger than the window is repaired as well', async () => {
  const large = command('SET', 'large', 'x'.repeat(1_500_000));
  const { folder, file } = folderWith(large + hole(1_200_000) + large);
  expect(await mendAppendOnly(folder, 0)).toMatchObject([{ bytes: 1_200_000 }]);
  expect(readFileSync(file, 'utf8')).toBe(large + large);
});
