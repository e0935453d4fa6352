import { fstatSync, writeSync } from 'node:fs';
import { CmoError, errorBody } from '#contract';

/**
 * The only writers of stdout and stderr. A reader that left (`cmo ls | head`) is no fault of ours: what is left to say
 * is dropped, and the command ends with its own exit code. Node's own stream costs a start of `cmo` three milliseconds,
 * so it is opened only for a terminal: a pipe or a file takes its text at once, as it does from that stream.
 */
export type Output = {
  /** stdout, whole lines. */
  line(text: string): void;
  /** stderr, whole lines. */
  note(text: string): void;
  /** stderr as is: the progress line. */
  raw(text: string): void;
  /** True once the reader of stdout has left. */
  closed(): boolean;
  /** Everything written has been handed over. */
  flushed(): Promise<void>;
  readonly stdoutIsTerminal: boolean;
  /** Of the terminal that stdout is; null: it is none. */
  readonly columns: number | null;
  readonly stderrIsTerminal: boolean;
};

export function processOutput(): Output {
  const out = openable(1, () => process.stdout);
  const err = openable(2, () => process.stderr);
  return {
    line: (text) => out.write(`${text}\n`),
    note: (text) => err.write(`${text}\n`),
    raw: (text) => err.write(text),
    closed: () => out.closed(),
    flushed: async () => {
      await Promise.all([out.flushed(), err.flushed()]);
    },
    get stdoutIsTerminal() {
      return out.isTerminal();
    },
    get columns() {
      // 0: a terminal that was never told its size.
      return out.isTerminal() ? process.stdout.columns || 80 : null;
    },
    get stderrIsTerminal() {
      return err.isTerminal();
    },
  };
}

/** There is no room for what is said. Of notes nothing hangs on that; of an answer the caller has to know. */
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const GONE: readonly (string | undefined)[] = ['EPIPE', 'EIO', 'EBADF', 'ERR_STREAM_DESTROYED'];

function openable(fd: number, open: () => NodeJS.WriteStream) {
  const direct = takesBytes(fd);
  let stream: NodeJS.WriteStream | null = null;
  let closed = false;
  const opened = (): NodeJS.WriteStream => {
    if (stream) return stream;
    stream = open();
    stream.on('error', (error: NodeJS.ErrnoException) => {
      closed = true;
      // EIO: the terminal itself is gone.
      if (!GONE.includes(error.code)) throw error;
    });
    return stream;
  };
  const full = (code: string): void => {
    closed = true;
    if (fd !== 1) return;
    throw new CmoError(
      errorBody('CMO_E_DISK', `there is no room for what stdout should get (${code})`, {
        fix: 'make room where it goes; `cmo result ID` prints an answer again',
      }),
    );
  };
  /** What could not be written: a pipe that somebody made non-blocking is full, and the stream waits for it. */
  const left = (text: string): Uint8Array => {
    let bytes: Uint8Array = Buffer.from(text);
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (GONE.includes(code)) closed = true;
      else if (FULL.includes(code)) full(code ?? '');
      else if (code !== 'EAGAIN') throw error;
    }
    return closed ? new Uint8Array() : bytes;
  };
  return {
    write(text: string): void {
      if (closed) return;
      const rest = direct && stream === null ? left(text) : text;
      if (rest.length > 0 && opened().writable) opened().write(rest);
    },
    closed: () => closed,
    isTerminal: () => !direct && opened().isTTY === true,
    flushed: () =>
      new Promise<void>((resolve) => {
        if (stream === null || closed || !stream.writable) return resolve();
        stream.write('', () => resolve());
      }),
  };
}

/** A pipe, a socket, a file or /dev/null. Anything else (a terminal, a closed descriptor) is Node's to find out. */
function takesBytes(fd: number): boolean {
  if (process.platform === 'win32') return false;
  try {
    const stat = fstatSync(fd);
    const memory = stat.isCharacterDevice() && process.platform === 'linux' && stat.rdev >> 8 === 1;
    return stat.isFIFO() || stat.isSocket() || stat.isFile() || memory;
  } catch {
    return false;
  }
}
