import { closeSync, openSync, readSync } from 'node:fs';

/** For an id. The kernel's own source, where it is a file: loading node:crypto costs a start of `cmo` 2.5 ms. */
export async function sixteenRandomBytes(): Promise<Uint8Array> {
  const bytes = new Uint8Array(16);
  try {
    const source = openSync('/dev/urandom', 'r');
    try {
      if (readSync(source, bytes) === bytes.length) return bytes;
    } finally {
      closeSync(source);
    }
  } catch {
    // A system without that file.
  }
  return (await import('node:crypto')).randomBytes(16);
}
