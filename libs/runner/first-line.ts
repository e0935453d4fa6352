import { open } from 'node:fs/promises';

const BOUND = 2_048;

/** Of a file of any size. Null: no such file, or an empty line. */
export async function firstLine(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BOUND), 0, BOUND, 0);
    return buffer.subarray(0, bytesRead).toString('utf8').split('\n')[0] || null;
  } finally {
    await file.close();
  }
}
