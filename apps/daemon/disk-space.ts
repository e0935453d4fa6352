import { statfs } from 'node:fs/promises';

/** In a burst of submits the disk is asked at most this often, ms. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Bytes that we may still write under a folder. Infinity when its file system does not say: then nothing is refused for
 * it.
 */
export function freeSpace(folder: string): () => Promise<number> {
  let last = { at: -Infinity, free: Infinity };
  return async () => {
    if (performance.now() - last.at < LOOK_AGAIN_MS) return last.free;
    const free = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => Infinity,
    );
    last = { at: performance.now(), free };
    return free;
  };
}
