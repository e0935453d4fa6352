import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAttemptId, type ReceiptLine } from '#contract';

/**
 * The lines of one dispatch out of `receipts/YYYY-MM.jsonl`. Where each dispatch's lines lie is remembered, and of a
 * file only what is new is read: a night's files grow to many megabytes, and every end of a dispatch asks.
 */
export type ReceiptLookup = (dispatch: string) => Promise<ReceiptLine[]>;

type Place = { file: string; at: number; length: number };

const CHUNK = 1 << 20;

export function receiptLookup(folder: string): ReceiptLookup {
  const places = new Map<string, Place[]>();
  /** Bytes of whole lines that were read, per file. */
  const read = new Map<string, number>();
  let catching: Promise<void> = Promise.resolve();

  async function catchUp(): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((file) => /^[0-9]{4}-[0-9]{2}\.jsonl$/.test(file)).sort()) await readNew(name);
  }

  async function readNew(name: string): Promise<void> {
    const file = await open(join(folder, name), 'r');
    try {
      let at = read.get(name) ?? 0;
      for (;;) {
        const bytes = await chunkAt(file, at);
        const end = bytes.lastIndexOf(0x0a) + 1;
        if (end === 0) return;
        for (let from = 0; from < end;) {
          const to = bytes.indexOf(0x0a, from);
          remember(bytes.toString('utf8', from, to), { file: name, at: at + from, length: to - from });
          from = to + 1;
        }
        at += end;
        read.set(name, at);
      }
    } finally {
      await file.close();
    }
  }

  function remember(text: string, place: Place): void {
    const line = parseLine(text);
    if (!line) return;
    const dispatch = line.kind === 'attempt' ? line.dispatch : line.id;
    const known = places.get(dispatch);
    if (known) known.push(place);
    else places.set(dispatch, [place]);
  }

  return async (dispatch) => {
    catching = catching.then(catchUp, catchUp);
    await catching;
    const lines: ReceiptLine[] = [];
    const seen = new Set<string>();
    for (const { file: name, at, length } of places.get(dispatch) ?? []) {
      const file = await open(join(folder, name), 'r').catch(() => null);
      // A month that is kept no longer.
      if (file === null) continue;
      try {
        const bytes = Buffer.alloc(length);
        await file.read(bytes, 0, length, at);
        const line = parseLine(bytes.toString('utf8'));
        // A line may be written twice (its writer may die before it notes that): readers drop repeats by kind and id.
        if (!line || seen.has(`${line.kind} ${line.id}`)) continue;
        seen.add(`${line.kind} ${line.id}`);
        lines.push(line);
      } finally {
        await file.close();
      }
    }
    return lines.sort(byOrder);
  };
}

/** A whole chunk, or more when one line is longer than that. */
async function chunkAt(file: FileHandle, at: number): Promise<Buffer> {
  for (let size = CHUNK; ; size *= 2) {
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, at);
    if (bytesRead < size || bytes.includes(0x0a)) return bytes.subarray(0, bytesRead);
  }
}

/** Attempts by their number, then the dispatch's own line. */
function byOrder(a: ReceiptLine, b: ReceiptLine): number {
  const rank = (line: ReceiptLine): number =>
    line.kind === 'attempt' ? (parseAttemptId(line.id)?.attempt ?? 0) : Number.POSITIVE_INFINITY;
  const [left, right] = [rank(a), rank(b)];
  return left === right ? 0 : left - right;
}

function parseLine(text: string): ReceiptLine | null {
  try {
    const line = JSON.parse(text) as ReceiptLine;
    return line.kind === 'attempt' || line.kind === 'dispatch' ? line : null;
  } catch {
    return null;
  }
}
