import { mkdir, open, readdir, rename, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Takes runs of NUL bytes out of an append-only file, where they stand between two commands.
 *
 * On a full disk Redis (7 and 8) cuts a half-written buffer off the end of its file again and then writes the whole
 * buffer where it had been anyway, since the file behind a rewrite is not opened for appending: what lies between is a
 * hole. File systems leave the same at the end of a file in a power cut. A server refuses such a file for good ("Bad
 * file format"), and the tool that comes with it throws away all that was acknowledged after the hole, although nothing
 * of it is damaged. Any other damage is not touched.
 */
export type Mended = {
  file: string;
  /** Bytes taken out. */
  bytes: number;
  /** The file as it was. */
  kept: string;
};

const CHUNK = 1 << 20;

/** @param folder Redis' data folder; no server may run on it */
export async function mendAppendOnly(folder: string, now: number): Promise<Mended[]> {
  const files = join(folder, 'appendonlydir');
  const names = await readdir(files).catch(() => []);
  const mended: Mended[] = [];
  for (const name of names.filter((entry) => entry.endsWith('.incr.aof')).sort()) {
    const one = await mendFile(join(files, name), join(folder, 'damaged'), now);
    if (one) mended.push(one);
  }
  return mended;
}

async function mendFile(path: string, keepIn: string, now: number): Promise<Mended | null> {
  const file = await open(path, 'r');
  try {
    const whole = await wholeParts(new Bytes(file, (await file.stat()).size));
    if (whole === null || whole.holes === 0) return null;
    const temp = `${path}.mended`;
    await copyParts(file, whole.parts, temp);
    await mkdir(keepIn, { recursive: true, mode: 0o700 });
    const kept = join(keepIn, `${new Date(now).toISOString().replaceAll(':', '')}-${basename(path)}`);
    await rename(path, kept);
    await rename(temp, path);
    return { file: path, bytes: whole.holes, kept };
  } finally {
    await file.close();
  }
}

type Part = { from: number; to: number };

/** What to keep, and how many bytes are holes; null: it is damaged in another way. */
async function wholeParts(bytes: Bytes): Promise<{ parts: Part[]; holes: number } | null> {
  const parts: Part[] = [];
  let holes = 0;
  for (let at = 0; at < bytes.size;) {
    if ((await bytes.at(at)) === 0) {
      const from = at;
      while ((await bytes.at(at)) === 0) at += 1;
      holes += at - from;
      continue;
    }
    const to = await commandEnd(bytes, at);
    if (to === null) return null;
    const last = parts.at(-1);
    if (last?.to === at) last.to = to;
    else parts.push({ from: at, to });
    at = to;
  }
  return { parts, holes };
}

/**
 * Where the command that begins here ends; the file's end for one that is cut off there, which Redis mends itself;
 * null: it is none.
 */
async function commandEnd(bytes: Bytes, start: number): Promise<number | null> {
  const count = await bytes.number(start, 0x2a);
  if (count === 'cut') return bytes.size;
  if (count === null) return null;
  let at = count.next;
  for (let word = 0; word < count.value; word++) {
    const length = await bytes.number(at, 0x24);
    if (length === 'cut') return bytes.size;
    if (length === null) return null;
    at = length.next + length.value + 2;
    if (at > bytes.size) return bytes.size;
  }
  return at;
}

/** A window on a file that may be larger than the memory. */
class Bytes {
  readonly size: number;
  readonly #file: FileHandle;
  #window = Buffer.alloc(0);
  #from = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /** Undefined: behind the end. */
  async at(position: number): Promise<number | undefined> {
    if (position >= this.size) return undefined;
    if (position < this.#from || position >= this.#from + this.#window.length) {
      const buffer = Buffer.allocUnsafe(CHUNK);
      const { bytesRead } = await this.#file.read(buffer, 0, CHUNK, position);
      this.#window = buffer.subarray(0, bytesRead);
      this.#from = position;
    }
    return this.#window[position - this.#from];
  }

  /** `*3\r\n`: the number behind the sign, and where the next thing begins. */
  async number(position: number, sign: number): Promise<{ value: number; next: number } | 'cut' | null> {
    if ((await this.at(position)) !== sign) return position >= this.size ? 'cut' : null;
    let [value, at] = [0, position + 1];
    for (;;) {
      const byte = await this.at(at);
      if (byte === undefined) return 'cut';
      if (byte === 0x0d) return { value, next: at + 2 };
      if (byte < 0x30 || byte > 0x39 || at - position > 12) return null;
      value = value * 10 + byte - 0x30;
      at += 1;
    }
  }
}

async function copyParts(file: FileHandle, parts: readonly Part[], to: string): Promise<void> {
  const copy = await open(to, 'w', 0o600);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (const part of parts) {
      for (let at = part.from; at < part.to;) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, part.to - at), at);
        if (bytesRead === 0) throw new Error(`${to}: the file became shorter while it was copied`);
        await copy.writeFile(buffer.subarray(0, bytesRead));
        at += bytesRead;
      }
    }
    await copy.sync();
  } finally {
    await copy.close();
  }
}
