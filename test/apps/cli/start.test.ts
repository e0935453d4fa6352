import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshBox, type Box } from './support/run-cli.js';

const folderOf = (box: Box): string => join(box.folder, 'cache', 'code');
const plan = async (
  box: Box,
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const { code, stdout, stderr } = await box.cmo(['plan', '--role', 'judge'], {
    env: { CMO_CACHE_DIR: join(box.folder, 'cache'), ...env },
  });
  return { code, stdout, stderr };
};

test('what V8 made of the everyday commands is kept for the next start, and changes nothing that is said', async () => {
  const box = await freshBox();
  const first = await plan(box);
  expect(first).toMatchObject({ code: 3, stderr: '' });
  const [name = ''] = readdirSync(folderOf(box));
  expect(name).toMatch(new RegExp(`^[0-9a-f]{16}-${process.version.replaceAll('.', '\\.')}-${process.arch}-plan$`));
  const file = join(folderOf(box), name);
  expect([statSync(folderOf(box)).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  const { mtimeMs } = statSync(file);
  expect(await plan(box)).toEqual(first);
  expect(statSync(file).mtimeMs).toBe(mtimeMs);
  expect(readdirSync(folderOf(box))).toEqual([name]);
});

test('a kept file that V8 refuses is written anew; one that somebody else may have written is not used', async () => {
  const box = await freshBox();
  const first = await plan(box);
  const file = join(folderOf(box), readdirSync(folderOf(box))[0] ?? '');
  const good = readFileSync(file);
  for (const bytes of [
    Buffer.from('nonsense'),
    Buffer.alloc(0),
    good.subarray(0, 1000),
    Buffer.concat([good.subarray(0, 40), Buffer.alloc(good.length - 40, 7)]),
  ]) {
    writeFileSync(file, bytes);
    expect(await plan(box)).toEqual(first);
    expect(statSync(file).size).toBeGreaterThan(10_000);
  }
  writeFileSync(file, good);
  chmodSync(file, 0o666);
  expect(await plan(box)).toEqual(first);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('without a folder for the compiled code, and for rare commands, nothing is kept and everything works', async () => {
  const box = await freshBox();
  const first = await plan(box);
  expect(await plan(box, { CMO_CACHE_DIR: '/dev/null/no' })).toEqual(first);
  const other = await freshBox();
  expect((await other.cmo(['help', 'run'], { env: { CMO_CACHE_DIR: join(other.folder, 'cache') } })).stdout).toContain(
    'cmo run',
  );
  expect(existsSync(folderOf(other))).toBe(false);
});

test('files of older builds are removed after a week', async () => {
  const box = await freshBox();
  mkdirSync(folderOf(box), { recursive: true });
  for (const [name, days] of [
    ['old-plan', 8],
    ['new-plan', 6],
  ] as const) {
    writeFileSync(join(folderOf(box), name), 'x');
    const at = Date.now() / 1000 - days * 86_400;
    utimesSync(join(folderOf(box), name), at, at);
  }
  await plan(box);
  expect(readdirSync(folderOf(box)).filter((name) => /^(old|new)/.test(name))).toEqual(['new-plan']);
});
