import { open, type FileHandle } from 'node:fs/promises';
import type { OutputPart } from '#api';
import { findRun, readPlan, readStatus, runFiles } from '#runner';
import { oneLine } from '#vendors';

/** Read at a time; a longer line is read whole. */
const CHUNK = 256 * 1024;
const ERRORS_BYTES = 8 * 1024;
const ERRORS_LINES = 20;

/**
 * The output of one attempt of this node, from its run folder, delivered or not. Parts end with a line, so no character
 * is torn, and what is not a whole line yet waits until it is or until the run has ended.
 */
export async function runOutput(runs: string, attempt: string, from: number): Promise<OutputPart | null> {
  const found = findRun(runs, attempt);
  const plan = found === null ? null : await readPlan(found.folder);
  if (found === null || plan === null) return null;
  // Asked before the file is read: what was written after an end that is known already is none of it.
  const status = await readStatus(found.folder);
  const over =
    status.state === 'exited' ||
    status.state === 'void' ||
    found.where === 'done' ||
    ('alive' in status && !status.alive);
  const files = runFiles(found.folder);
  const { text, next, atEnd } = await part(files.out, from, over);
  const ended = over && atEnd;
  return {
    kind: plan.kind,
    lane: plan.lane,
    model: plan.model,
    text,
    next,
    ended,
    errors: ended ? await lastErrors(files.err) : [],
  };
}

async function part(
  path: string,
  from: number,
  over: boolean,
): Promise<{ text: string; next: number; atEnd: boolean }> {
  const file = await openIfThere(path);
  if (file === null) return { text: '', next: from, atEnd: true };
  try {
    const { size } = await file.stat();
    for (let length = CHUNK; ; length *= 4) {
      const bytes = await readAt(file, from, Math.min(length, Math.max(size - from, 0)));
      const whole = from + bytes.length >= size;
      const end = whole && over ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
      if (end > 0 || whole)
        return {
          text: bytes.toString('utf8', 0, end),
          next: from + end,
          atEnd: whole && (end === bytes.length || over),
        };
    }
  } finally {
    await file.close();
  }
}

async function lastErrors(path: string): Promise<string[]> {
  const file = await openIfThere(path);
  if (file === null) return [];
  try {
    const { size } = await file.stat();
    const text = (await readAt(file, Math.max(size - ERRORS_BYTES, 0), Math.min(size, ERRORS_BYTES))).toString('utf8');
    return text
      .split('\n')
      .map(oneLine)
      .filter((line) => line !== '')
      .slice(-ERRORS_LINES);
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch(() => null);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}
