import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReceiptLine } from '#contract';
import { appendReceipt, BALLAST_BYTES, dropBallast, forgetReceipts, layBallast } from '#receipts';
import { tempFolder } from '../../support/temp.js';

const line = (id: string, at: string): ReceiptLine =>
  ({ kind: 'dispatch', id, at, state: 'succeeded' }) as unknown as ReceiptLine;
const NOW = Date.parse('2030-06-15T00:00:00Z');

async function months(...counts: [month: string, lines: number][]): Promise<string> {
  const folder = join(tempFolder('receipts'), 'receipts');
  for (const [month, lines] of counts)
    for (let i = 0; i < lines; i++) await appendReceipt(folder, line(`d-${month}-${i}`, `${month}-01T00:00:0${i}Z`));
  return folder;
}

test('months that ended before the days that are kept go whole, and no file is written anew', async () => {
  const folder = await months(['2030-03', 2], ['2030-04', 1], ['2030-05', 3], ['2030-06', 1]);
  const keep = { days: 40, most: null };
  expect((await forgetReceipts(folder, keep, NOW, true)).map(({ name, lines }) => [name, lines])).toEqual([
    ['2030-04.jsonl', 1],
    ['2030-03.jsonl', 2],
  ]);
  expect(readdirSync(folder)).toHaveLength(4);
  await forgetReceipts(folder, keep, NOW, false);
  expect(readdirSync(folder).sort()).toEqual(['2030-05.jsonl', '2030-06.jsonl']);
});

test('months beyond the lines that are kept go, the oldest first, and never the month that is being written', async () => {
  const folder = await months(['2030-04', 1], ['2030-05', 3], ['2030-06', 4]);
  await forgetReceipts(folder, { days: 400, most: 5 }, NOW, false);
  expect(readdirSync(folder).sort()).toEqual(['2030-05.jsonl', '2030-06.jsonl']);
  await forgetReceipts(folder, { days: 0.01, most: 1 }, NOW, false);
  expect(readdirSync(folder)).toEqual(['2030-06.jsonl']);
  expect(await forgetReceipts('/nonexistent', { days: 1, most: 1 }, NOW, false)).toEqual([]);
});

test('the reserve for receipts takes real space beside them, and is given up when a line does not fit on the disk', async () => {
  const folder = join(tempFolder('receipts'), 'receipts');
  mkdirSync(folder);
  expect([await layBallast(folder), await layBallast(folder)]).toEqual([true, true]);
  const ballast = `${folder}.ballast`;
  expect(statSync(ballast).size).toBe(BALLAST_BYTES);
  expect(statSync(ballast).blocks * 512).toBeGreaterThanOrEqual(BALLAST_BYTES);
  expect(readdirSync(folder)).toEqual([]);

  // A file that says at each write what a full disk says.
  symlinkSync('/dev/full', join(folder, '2030-06.jsonl'));
  await expect(appendReceipt(folder, line('d-a', '2030-06-15T00:00:00Z'))).rejects.toThrow(/ENOSPC/);
  expect(existsSync(ballast)).toBe(false);
  await expect(appendReceipt(folder, line('d-a', '2030-06-15T00:00:00Z'))).rejects.toThrow(/ENOSPC/);
  expect(await dropBallast(folder)).toBe(false);

  rmSync(join(folder, '2030-06.jsonl'));
  await appendReceipt(folder, line('d-a', '2030-06-15T00:00:00Z'));
  expect(readFileSync(join(folder, '2030-06.jsonl'), 'utf8')).toContain('d-a');
});
