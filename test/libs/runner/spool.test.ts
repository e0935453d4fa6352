import { appendFileSync, linkSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cutSpool, openSpool, type Spool } from '#runner';
import { tempFolder } from '../../support/temp.js';

const newFile = (): string => join(tempFolder('spool'), 'out');

/** All that is there now, as a list of the chunks' texts. */
async function drain(spool: Spool): Promise<string[]> {
  const chunks: string[] = [];
  for (let chunk = await spool.next(); chunk; chunk = await spool.next()) chunks.push(Buffer.from(chunk).toString());
  return chunks;
}

test('a growing file is read once, from where the last reading ended', async () => {
  const path = newFile();
  const spool = openSpool(path, { capBytes: 1_000 });
  expect(await spool.next()).toBeNull();
  writeFileSync(path, 'one ');
  expect(await drain(spool)).toEqual(['one ']);
  expect(await drain(spool)).toEqual([]);
  appendFileSync(path, 'two');
  expect(await drain(spool)).toEqual(['two']);
  expect(spool.offset).toBe(7);
  await spool.close();
});

test('a successor goes on from an offset', async () => {
  const path = newFile();
  writeFileSync(path, '0123456789');
  const spool = openSpool(path, { offset: 6, capBytes: 1_000 });
  expect(await drain(spool)).toEqual(['6789']);
  await spool.close();
});

test('chunks are never larger than asked for, whatever waits', async () => {
  const path = newFile();
  writeFileSync(path, 'x'.repeat(1_000_000));
  const spool = openSpool(path, { chunkBytes: 65_536, capBytes: 2_000_000 });
  const chunks = await drain(spool);
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBe(65_536);
  expect(chunks.join('')).toHaveLength(1_000_000);
  expect(spool.overflow).toBe(false);
  await spool.close();
});

test('bytes past the cap are never given out, and passing the cap is reported', async () => {
  const path = newFile();
  writeFileSync(path, '0123456789');
  const spool = openSpool(path, { chunkBytes: 4, capBytes: 10 });
  expect(await drain(spool)).toEqual(['0123', '4567', '89']);
  expect(spool.overflow).toBe(false);
  appendFileSync(path, 'x');
  expect(await drain(spool)).toEqual([]);
  expect(spool.overflow).toBe(true);
  expect(spool.offset).toBe(10);
  await spool.close();
});

test('a file that was cut is waited for, not read again', async () => {
  const path = newFile();
  writeFileSync(path, '0123456789');
  const spool = openSpool(path, { capBytes: 100 });
  await drain(spool);
  truncateSync(path, 3);
  expect(await drain(spool)).toEqual([]);
  await spool.close();
  await spool.close();
});

test('what is past the cap is cut off, except for what shows that it was passed; nothing else is ever cut', async () => {
  const path = newFile();
  writeFileSync(path, 'x'.repeat(5_000));
  await cutSpool(path, 1_000);
  await cutSpool(path, 1_000);
  const spool = openSpool(path, { capBytes: 1_000 });
  expect((await drain(spool)).join('')).toHaveLength(1_000);
  expect(spool.overflow).toBe(true);
  await spool.close();

  const mine = `${path}-mine`;
  writeFileSync(mine, 'y'.repeat(5_000));
  for (const put of [() => symlinkSync(mine, path), () => linkSync(mine, path)]) {
    rmSync(path);
    put();
    await cutSpool(path, 1_000);
    expect(readFileSync(mine)).toHaveLength(5_000);
  }
  await expect(cutSpool(`${path}-none`, 1_000)).resolves.toBeUndefined();
});
