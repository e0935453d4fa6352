import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A file of lines that is set aside as `<path>.1` when it has grown to `bytes`, also in the middle of a process's life:
 * a daemon lives for weeks. A line is never split between the two. What can't be written (a full disk) is dropped: a
 * daemon must not end for its log, nor hold up what it logs about.
 */
export function boundedFile(path: string, bytes: number): { write(line: string): void } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let fd = openSync(path, 'a', 0o600);
  let size = fstatSync(fd).size;

  function setAside(): void {
    size = 0;
    renameSync(path, `${path}.1`);
    const fresh = openSync(path, 'a', 0o600);
    closeSync(fd);
    fd = fresh;
  }

  return {
    write(line) {
      if (size >= bytes) drop(setAside);
      drop(() => {
        size += writeSync(fd, line);
      });
    },
  };
}

function drop(work: () => void): void {
  try {
    work();
  } catch {
    // See above.
  }
}
