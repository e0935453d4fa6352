import type { FileHandle } from 'node:fs/promises';

export type TailOptions = {
  /** Only lines that hold this ASCII text are given. */
  needle: string;
  /** Longer lines are passed over unread. */
  maxLineBytes: number;
  chunkBytes: number;
  /** How many bytes may still be read; counted down. The search ends when it is used up. */
  allowance: { bytes: number };
};

const NEWLINE = 0x0a;
/** Raw NULs can't stand in JSON: a power cut leaves blocks of them, and a resumed session writes straight after. */
const NUL = 0x00;

/**
 * The lines of a file that hold the needle, last one first, as text without its line end. One chunk is in memory at a
 * time, whatever the file's or a line's length. A chunk without the needle is not split into lines: searching is native
 * code, so 1 GiB costs about half a second and a needle near the end costs one read. The file may grow or shrink
 * meanwhile: growth is not seen, a missing end reads as nothing.
 */
export async function* linesFromEnd(handle: FileHandle, size: number, options: TailOptions): AsyncGenerator<string> {
  const { needle, maxLineBytes, chunkBytes } = options;
  const overlap = needle.length - 1;
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size) + overlap);
  let end = size;
  while (end > 0 && options.allowance.bytes > 0) {
    const start = Math.max(0, end - chunkBytes);
    // The overlap finds a needle that begins in this chunk and ends in the one searched before.
    const bytes = await readAt(handle, chunk, start, Math.min(size, end + overlap), options);
    let from = end - start - 1;
    end = start;
    while (from >= 0) {
      const hit = bytes.lastIndexOf(needle, from);
      if (hit < 0) break;
      const inside = lineAround(bytes, hit, start === 0, start + bytes.length === size);
      if (inside) {
        if (inside.to - inside.from <= maxLineBytes) yield bytes.toString('utf8', inside.from, inside.to);
        from = inside.from - 1;
        continue;
      }
      const { line, searchBefore } = await readLineAround(handle, size, start + hit, options);
      if (line !== null) yield line;
      from = searchBefore - start - 1;
      if (from < 0) end = searchBefore;
    }
  }
}

async function readAt(
  handle: FileHandle,
  into: Buffer,
  from: number,
  to: number,
  { allowance }: TailOptions,
): Promise<Buffer> {
  let got = 0;
  while (got < to - from) {
    const { bytesRead } = await handle.read(into, got, to - from - got, from + got);
    if (bytesRead === 0) break;
    got += bytesRead;
  }
  allowance.bytes -= to - from;
  return into.subarray(0, got);
}

/** Both ends of the line at `hit`, when both lie in these bytes. */
function lineAround(
  bytes: Buffer,
  hit: number,
  atFileStart: boolean,
  atFileEnd: boolean,
): { from: number; to: number } | null {
  const from = lineStart(bytes, hit);
  const to = lineEnd(bytes, hit);
  if ((from === 0 && !atFileStart) || (to === bytes.length && !atFileEnd)) return null;
  return { from, to };
}

// NULs are looked for only within the line: over the whole chunk, once per hit, it would cost more than the reading.
function lineStart(bytes: Buffer, hit: number): number {
  const newline = bytes.lastIndexOf(NEWLINE, hit);
  return newline + 1 + bytes.subarray(newline + 1, hit).lastIndexOf(NUL) + 1;
}

function lineEnd(bytes: Buffer, hit: number): number {
  const newline = bytes.indexOf(NEWLINE, hit);
  const end = newline < 0 ? bytes.length : newline;
  const nul = bytes.subarray(hit, end).indexOf(NUL);
  return nul < 0 ? end : hit + nul;
}

/**
 * A line that crosses the chunk's edge, read by itself; null when it is too long. `searchBefore`: where the search goes
 * on.
 */
async function readLineAround(
  handle: FileHandle,
  size: number,
  at: number,
  options: TailOptions,
): Promise<{ line: string | null; searchBefore: number }> {
  const from = Math.max(0, at - options.maxLineBytes);
  const to = Math.min(size, at + options.maxLineBytes + 1);
  const bytes = await readAt(handle, Buffer.allocUnsafe(to - from), from, to, options);
  if (bytes.length <= at - from) return { line: null, searchBefore: from };
  const inside = lineAround(bytes, at - from, from === 0, to === size);
  const fits = inside !== null && inside.to - inside.from <= options.maxLineBytes;
  return {
    line: fits ? bytes.toString('utf8', inside.from, inside.to) : null,
    searchBefore: from + lineStart(bytes, at - from),
  };
}
