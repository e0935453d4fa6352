import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReceiptLine } from '#contract';

/**
 * Appends one line to `YYYY-MM.jsonl` (UTC, by the receipt's own time): one O_APPEND write, then fsync. Two processes
 * may write the same line after a crash; readers drop repeats by (kind, id).
 */
export async function appendReceipt(folder: string, receipt: ReceiptLine): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, `${receipt.at.slice(0, 7)}.jsonl`), 'a', 0o600);
  try {
    await file.write(`${JSON.stringify(receipt)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
