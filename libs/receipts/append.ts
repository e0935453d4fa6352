import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReceiptLine } from '#contract';
import { dropBallast } from './ballast.js';

/**
 * Puts one line at the end of the month's file (`YYYY-MM.jsonl`, by the receipt's own time, UTC) and returns when it is
 * on the disk. One write with O_APPEND: lines of several writers never mix. Repeating it is harmless, readers drop
 * repeats. Throws when the disk doesn't take it whole: the line is owed still.
 */
export async function appendReceipt(folder: string, line: ReceiptLine): Promise<void> {
  await appendReceipts(folder, [line]);
}

/** Several, with one write and one sync for each month. */
export async function appendReceipts(folder: string, lines: readonly ReceiptLine[]): Promise<void> {
  const months = new Map<string, ReceiptLine[]>();
  for (const line of lines) {
    const own = months.get(monthOf(line.at)) ?? [];
    months.set(monthOf(line.at), own);
    own.push(line);
  }
  for (const [month, own] of months) {
    await appendTo(folder, month, own).catch(async (error: unknown) => {
      // On a full disk the line has the room that was kept for it.
      if (!isFull(error) || !(await dropBallast(folder))) throw error;
      await appendTo(folder, month, own);
    });
  }
}

async function appendTo(folder: string, month: string, lines: readonly ReceiptLine[]): Promise<void> {
  const file = join(folder, `${month}.jsonl`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { handle, isNew } = await openForAppend(file);
  try {
    const bytes = Buffer.from(
      `${(await endsOpen(handle)) ? '\n' : ''}${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`,
    );
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten !== bytes.length)
      throw Object.assign(new Error(`only ${bytesWritten} of ${bytes.length} bytes could be written to ${file}`), {
        code: 'ENOSPC',
      });
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (isNew) await syncFolder(folder);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** `YYYY-MM` in UTC. Throws for a time that is none: receipts are ours. */
export function monthOf(at: string): string {
  return new Date(at).toISOString().slice(0, 7);
}

async function openForAppend(file: string): Promise<{ handle: FileHandle; isNew: boolean }> {
  try {
    return { handle: await open(file, 'ax+', 0o600), isNew: true };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return { handle: await open(file, 'a+', 0o600), isNew: false };
  }
}

/** A write that a crash or a full disk cut leaves a torn line; ours must not become its tail. */
async function endsOpen(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== 0x0a;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
