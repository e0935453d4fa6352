import { createReadStream } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Keep } from '#contract';

const DAY_MS = 86_400_000;
const MONTH = /^(\d{4})-(\d{2})\.jsonl$/;

export type MonthFile = { name: string; lines: number; bytes: number };

/**
 * Removes receipts past their retention, whole months at a time: a file is never rewritten, since a line of it may be on
 * its way. The present month stays whatever the retention.
 * @param now ms; @param dryRun only says which
 * @returns the files that go
 */
export async function forgetReceipts(
  folder: string,
  { days, most }: Keep,
  now: number,
  dryRun: boolean,
): Promise<MonthFile[]> {
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => MONTH.test(name))
    .sort()
    .reverse();
  const current = `${new Date(now).toISOString().slice(0, 7)}.jsonl`;
  const gone: MonthFile[] = [];
  let kept = 0;
  for (const name of names) {
    const file = await measured(folder, name);
    const old = endOf(name) <= now - days * DAY_MS;
    const full = most !== null && kept >= most;
    if (name < current && (old || full)) gone.push(file);
    else kept += file.lines;
  }
  if (!dryRun) for (const { name } of gone) await unlink(join(folder, name));
  return gone;
}

/** The first instant after the month. */
function endOf(name: string): number {
  const [, year, month] = MONTH.exec(name) ?? [];
  return Date.UTC(Number(year), Number(month), 1);
}

async function measured(folder: string, name: string): Promise<MonthFile> {
  const path = join(folder, name);
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>)
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lines++;
  return { name, lines, bytes: (await stat(path)).size };
}
