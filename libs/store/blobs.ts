import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { pack, packHead, unpack, type Cut, type Packed } from './blob-text.js';
import { keys, type BlobKind } from './keys.js';

/** Where this box keeps the texts that are too large for Redis. */
export type BlobPlace = { folder: string; node: string };

/**
 * `cut`: Redis holds only its head, and the file with the whole
 * of it is not on this box, or is gone. `file`: it is here.
 */
export type StoredText = { text: string; cut: Cut | null; file: Cut | null };

/**
 * Compressed bytes of one text in Redis; past that it is a file of the node that wrote it, and Redis holds the head.
 */
const MOST_IN_REDIS = 256 * 1024;
/** And plain ones: what compresses well must not be unpacked whole by whoever only looks. */
const MOST_PLAIN = 2 * 1024 * 1024;
/** Of the head, characters. */
const HEAD = 64 * 1024;

/**
 * Packs a text, and writes its file first where it needs one. Without a place it stays in Redis whole, whatever its
 * size: what every box has to read must not lie on one.
 */
export async function packBlob(place: BlobPlace | null, id: string, kind: BlobKind, text: string): Promise<Packed> {
  return packAs(place, `${id}.${kind}`, text);
}

/**
 * The same for what comes with a submit. Two that race for one id each write their file before Redis says whose record
 * it is: the name tells their texts apart, or the record of one would go with the text of the other.
 */
export async function packSubmitted(
  place: BlobPlace | null,
  id: string,
  kind: BlobKind,
  text: string,
): Promise<Packed> {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return packAs(place, `${id}.${kind}.${digest}`, text);
}

async function packAs(place: BlobPlace | null, file: string, text: string): Promise<Packed> {
  const bytes = Buffer.byteLength(text);
  const packed = place !== null && bytes > MOST_PLAIN ? null : await pack(text);
  if (place === null || (packed !== null && packed.length <= MOST_IN_REDIS)) return packed ?? pack(text);
  await writeWhole(place.folder, file, text);
  return packHead(text.slice(0, HEAD), { bytes, node: place.node, file });
}

export async function readBlob(
  redis: Redis,
  place: BlobPlace | null,
  id: string,
  kind: BlobKind,
): Promise<StoredText | null> {
  const packed = await redis.getBuffer(keys.blob(id, kind));
  return packed === null ? null : unpackBlob(place, packed);
}

/** @param packed as it lies in Redis */
export async function unpackBlob(place: BlobPlace | null, packed: Packed): Promise<StoredText> {
  const { text, cut } = await unpack(packed);
  if (cut === null) return { text, cut: null, file: null };
  const whole =
    place?.node === cut.node ? await readFile(join(place.folder, cut.file), 'utf8').catch(() => null) : null;
  return whole === null ? { text: `${text}\n\n${mark(cut)}`, cut, file: null } : { text: whole, cut: null, file: cut };
}

/** Stands in the text itself, so that nobody takes the head for the whole. */
function mark({ bytes, node, file }: Cut): string {
  return `[cmo: cut here. The whole of it, ${bytes} bytes, is blobs/${file} in the state folder of ${node}.]`;
}

/** Whole or absent, also after a power cut: libs/runner/durable-file.ts once more, which the store may not import. */
async function writeWhole(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temp = join(folder, `.new-${process.pid}-${randomUUID()}`);
  const file = await open(temp, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await unlink(temp).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  await rename(temp, join(folder, name));
  const parent = await open(folder, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}
