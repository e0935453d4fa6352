import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { hasCode } from './durable-file.js';

/**
 * Reads a file that another process is still writing, from a byte offset, a bounded chunk at a time: an agent may
 * answer with 60 MB in one line. Who reads decides when to look again (watch-folder.ts); at the end of what is there
 * `next` gives null.
 */
export type Spool = {
  /** The next bytes; null when there are none now. The chunk is good until the next call. */
  next(): Promise<Uint8Array | null>;
  /** Bytes read so far: where a successor may go on. */
  readonly offset: number;
  /** The file has passed the cap. Bytes behind the cap are never given out. */
  readonly overflow: boolean;
  close(): Promise<void>;
};

export type SpoolOptions = { offset?: number; chunkBytes?: number; capBytes: number };

export function openSpool(path: string, { offset = 0, chunkBytes = 64 * 1024, capBytes }: SpoolOptions): Spool {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  let file: FileHandle | null = null;
  let at = offset;
  let overflow = false;
  return {
    async next() {
      file ??= await openIfThere(path);
      if (!file) return null;
      if (at >= capBytes) {
        overflow ||= (await file.stat()).size > capBytes;
        return null;
      }
      const { bytesRead } = await file.read(buffer, 0, Math.min(chunkBytes, capBytes - at), at);
      at += bytesRead;
      return bytesRead === 0 ? null : buffer.subarray(0, bytesRead);
    },
    get offset() {
      return at;
    },
    get overflow() {
      return overflow;
    },
    async close() {
      const open = file;
      file = null;
      await open?.close();
    },
  };
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Cuts off what is past the cap, once no process writes any more. One byte past it stays, so that a later reader sees
 * the overflow too. Only for a file with this one name: an agent may have put a link to another file in its place.
 */
export async function cutSpool(path: string, capBytes: number): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return;
  try {
    const found = await file.stat();
    if (found.isFile() && found.nlink === 1 && found.size > capBytes + 1) await file.truncate(capBytes + 1);
  } finally {
    await file.close();
  }
}
