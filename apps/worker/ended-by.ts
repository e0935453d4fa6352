import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFirst } from '#runner/durable-file';
import type { EndReason } from './watch.js';

/**
 * Why we ended a run, kept in its folder before the first signal: a successor classifies it the same way. The first
 * reason stays.
 */
export async function writeEndedBy(folder: string, reason: EndReason): Promise<void> {
  await writeFirst(join(folder, 'ended-by'), reason);
}

export async function readEndedBy(folder: string): Promise<EndReason | null> {
  try {
    return (await readFile(join(folder, 'ended-by'), 'utf8')) as EndReason;
  } catch {
    return null;
  }
}
