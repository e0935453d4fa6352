import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

const CHUNK = 64 * 1024;
const LOOK_MS = 300;
/** Of a log that is not followed from its start only the end is shown, bytes. */
const TAIL = 64 * 1024;

type Options = {
  follow: boolean;
  /** Asked before each look. */
  goOn(): boolean;
  line(text: string): void;
};

/**
 * The end of a log, and with `follow` what is written from then on. A log that is rotated (by size) is read to its end
 * first and then from its new start, so no line is lost or shown twice.
 * @returns false: there is no such log
 */
export async function followLog(folder: string, name: string, { follow, goOn, line }: Options): Promise<boolean> {
  const path = join(folder, name);
  let fd = openIfThere(path);
  if (fd === null) return false;
  const { size } = fstatSync(fd);
  let reader = lineReader(fd, Math.max(size - TAIL, 0), line);
  try {
    for (;;) {
      reader.catchUp();
      if (!follow || !goOn()) return true;
      if (wasReplaced(fd, path)) {
        const newer = openIfThere(path);
        if (newer !== null) {
          reader.catchUp();
          closeSync(fd);
          fd = newer;
          reader = lineReader(fd, 0, line);
          continue;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    closeSync(fd);
  }
}

/** Bytes are decoded only as whole lines: a character that is written in two pieces is never torn. */
function lineReader(fd: number, from: number, line: (text: string) => void): { catchUp(): void } {
  let at = from;
  let held = Buffer.alloc(0);
  let skipped = from === 0;
  return {
    catchUp() {
      for (;;) {
        const chunk = Buffer.allocUnsafe(CHUNK);
        const length = readSync(fd, chunk, 0, CHUNK, at);
        if (length === 0) return;
        at += length;
        held = Buffer.concat([held, chunk.subarray(0, length)]);
        const end = held.lastIndexOf(0x0a) + 1;
        const texts = held.toString('utf8', 0, end).split('\n').slice(0, -1);
        held = held.subarray(end);
        // It began in the middle of one.
        if (!skipped && texts.length > 0) texts.shift();
        if (texts.length > 0 || end > 0) skipped = true;
        for (const text of texts) if (text !== '') line(text);
      }
    },
  };
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

function wasReplaced(fd: number, path: string): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now === undefined || now.ino !== fstatSync(fd).ino;
}
