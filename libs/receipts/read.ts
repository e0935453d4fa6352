import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReceiptLine } from '#contract';
import { monthOf } from './append.js';

/** All given members must hold. */
export type ReceiptFilter = {
  /** Not older than this, ms since the epoch. */
  since?: number;
  /** Lines of this dispatch and of its attempts. */
  dispatch?: string;
  batch?: string;
};

export type ReadOptions = ReceiptFilter & {
  /** Called for each line that is no receipt: torn by a crash, or written by something else. */
  onUnreadable?: (file: string, line: string) => void;
};

/** Longer lines are no receipts: words and notes are capped when they are written. */
const LONGEST_LINE = 4 * 1024 * 1024;

/**
 * Receipts, oldest file first and in the order written. Repeats by (kind, id) are dropped, the first stays: deliveries
 * are repeated after a crash, and a repeat never says anything else. Memory: one chunk of a file and the ids seen.
 */
export async function* readReceipts(
  folder: string,
  options: ReadOptions = {},
): AsyncGenerator<ReceiptLine, void, undefined> {
  const seen = new Set<string>();
  for (const file of await monthFiles(folder, options.since)) {
    for await (const text of linesOf(join(folder, file))) {
      if (text.trim() === '') continue;
      const line = parseLine(text);
      if (!line) {
        options.onUnreadable?.(file, text);
        continue;
      }
      const key = `${line.kind} ${line.id}`;
      if (seen.has(key) || !matches(line, options)) continue;
      seen.add(key);
      yield line;
    }
  }
}

/** The same, as a list; for a bounded question. */
export async function listReceipts(folder: string, options: ReadOptions = {}): Promise<ReceiptLine[]> {
  const lines: ReceiptLine[] = [];
  for await (const line of readReceipts(folder, options)) lines.push(line);
  return lines;
}

/** A file holds one month of UTC, so whole files before `since` are not opened. */
async function monthFiles(folder: string, since: number | undefined): Promise<string[]> {
  const first = since === undefined ? '' : monthOf(new Date(since).toISOString());
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^\d{4}-\d{2}\.jsonl$/.test(name) && name.slice(0, 7) >= first).sort();
}

async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
    const pieces = (rest + chunk).split('\n');
    rest = pieces.pop() ?? '';
    if (rest.length > LONGEST_LINE) rest = '';
    yield* pieces;
  }
  if (rest !== '') yield rest;
}

function parseLine(text: string): ReceiptLine | null {
  try {
    const line = JSON.parse(text) as Partial<ReceiptLine> | null;
    if (typeof line !== 'object' || line === null) return null;
    const isReceipt =
      (line.kind === 'attempt' || line.kind === 'dispatch') &&
      typeof line.id === 'string' &&
      typeof line.at === 'string';
    return isReceipt ? (line as ReceiptLine) : null;
  } catch {
    return null;
  }
}

function matches(line: ReceiptLine, { since, dispatch, batch }: ReceiptFilter): boolean {
  if (since !== undefined && !(Date.parse(line.at) >= since)) return false;
  if (dispatch !== undefined && (line.kind === 'attempt' ? line.dispatch : line.id) !== dispatch) return false;
  return batch === undefined || line.batch === batch;
}
