import { mkdir, open, utimes, type FileHandle } from 'node:fs/promises';
import { dirname, join, normalize, isAbsolute } from 'node:path';

/** One file of an `explain codex-sessions` input. Pads are bulk of valid other lines before and after the text. */
export type LaidOutFile = {
  path: string;
  text: string;
  mtime: string | null;
  padBefore: Pad | null;
  padAfter: Pad | null;
};
export type Pad = { bytes: number; lineBytes: number };

export type LaidOut = { ok: true; files: LaidOutFile[] } | { ok: false; error: string };

/** Inputs are pasted by people: one typing error must not fill the disk. */
const MOST_BYTES = 4 * 1024 ** 3;
const SHORTEST_LINE = 256;
const BATCH_BYTES = 1024 * 1024;

/**
 * Writes the `files` member of an input under a folder, with pads and modification times. Nothing is written outside
 * the folder, and nothing at all unless every member is readable. The caller makes and removes the folder.
 */
export async function layOutFiles(input: unknown, folder: string): Promise<LaidOut> {
  if (!Array.isArray(input)) return { ok: false, error: 'files must be an array' };
  const files: LaidOutFile[] = [];
  let bytes = 0;
  for (const [index, value] of (input as unknown[]).entries()) {
    const file = readFileMember(value);
    if (typeof file === 'string') return { ok: false, error: `files[${index}]: ${file}` };
    bytes += file.text.length + (file.padBefore?.bytes ?? 0) + (file.padAfter?.bytes ?? 0);
    files.push(file);
  }
  if (bytes > MOST_BYTES) return { ok: false, error: `files: ${bytes} bytes in all, the most is ${MOST_BYTES}` };
  for (const file of files) await writeOne(file, join(folder, file.path));
  return { ok: true, files };
}

async function writeOne({ text, mtime, padBefore, padAfter }: LaidOutFile, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const handle = await open(path, 'w');
  try {
    if (padBefore) await writePad(handle, padBefore);
    await writeAll(handle, Buffer.from(text, 'utf8'));
    // A cut last line stays a line of its own: the pad is other lines, not the rest of this one.
    if (padAfter && text !== '' && !text.endsWith('\n')) await writeAll(handle, Buffer.from('\n'));
    if (padAfter) await writePad(handle, padAfter);
  } finally {
    await handle.close();
  }
  if (mtime !== null) await utimes(path, new Date(mtime), new Date(mtime));
}

/** As many whole lines as reach the wanted size; written in batches, so that the size of a pad costs no memory. */
async function writePad(handle: FileHandle, { bytes, lineBytes }: Pad): Promise<void> {
  const line = padLine(lineBytes);
  const count = Math.ceil(bytes / line.length);
  const perBatch = Math.min(count, Math.max(1, Math.floor(BATCH_BYTES / line.length)));
  const batch = Buffer.concat(Array.from({ length: perBatch }, () => line));
  for (let left = count; left > 0; left -= perBatch)
    await writeAll(handle, left >= perBatch ? batch : batch.subarray(0, left * line.length));
}

/** A tool's output, as codex writes one; it names what a careless reader would search for. */
function padLine(lineBytes: number): Buffer {
  const head =
    '{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"pad","output":"original_token_count rate_limits ';
  const tail = '"}}\n';
  return Buffer.from(head + 'x'.repeat(Math.max(lineBytes, SHORTEST_LINE) - head.length - tail.length) + tail);
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
}

function readFileMember(value: unknown): LaidOutFile | string {
  if (typeof value !== 'object' || value === null) return 'must be an object';
  const { path, text, mtime, padBefore, padAfter } = value as Record<string, unknown>;
  if (typeof path !== 'string' || path === '') return 'path must be a text';
  const inside = normalize(path);
  if (isAbsolute(inside) || inside === '.' || inside.split(/[/\\]/).includes('..') || inside.includes('\0'))
    return 'path must lie inside the folder';
  if (typeof text !== 'string') return 'text must be a text';
  if (
    mtime !== undefined &&
    mtime !== null &&
    (typeof mtime !== 'string' || !/(Z|[+-]\d\d:\d\d)$/.test(mtime) || Number.isNaN(Date.parse(mtime)))
  )
    return 'mtime must be an ISO 8601 time with its offset';
  const before = readPad(padBefore);
  const after = readPad(padAfter);
  if (before === undefined || after === undefined)
    return 'padBefore and padAfter must be {bytes, lineBytes}, whole numbers';
  return { path: inside, text, mtime: typeof mtime === 'string' ? mtime : null, padBefore: before, padAfter: after };
}

/** Undefined: unreadable. Null: no pad. */
function readPad(value: unknown): Pad | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return undefined;
  const { bytes, lineBytes = 1024 } = value as Record<string, unknown>;
  const sound = (number: unknown): number is number =>
    typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MOST_BYTES;
  return sound(bytes) && sound(lineBytes) && lineBytes <= 64 * 1024 ** 2 ? { bytes, lineBytes } : undefined;
}
