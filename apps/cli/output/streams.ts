/**
 * The only writers of stdout and stderr. A reader that left (`cmo ls | head`) is no fault of ours: what is left to say
 * is dropped, and the command ends with its own exit code. A stream is opened when it is first needed: each costs a
 * start of `cmo` about two milliseconds.
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
  readonly stderrIsTerminal: boolean;
};

export function processOutput(): Output {
  const out = openable(() => process.stdout);
  const err = openable(() => process.stderr);
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
    get stderrIsTerminal() {
      return err.isTerminal();
    },
  };
}

function openable(open: () => NodeJS.WriteStream) {
  let stream: NodeJS.WriteStream | null = null;
  let closed = false;
  const opened = (): NodeJS.WriteStream => {
    if (stream) return stream;
    stream = open();
    stream.on('error', (error: NodeJS.ErrnoException) => {
      closed = true;
      // EIO: the terminal itself is gone.
      if (error.code !== 'EPIPE' && error.code !== 'EIO' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    });
    return stream;
  };
  return {
    write(text: string): void {
      if (!closed && opened().writable) opened().write(text);
    },
    closed: () => closed,
    isTerminal: () => opened().isTTY === true,
    flushed: () =>
      new Promise<void>((resolve) => {
        if (stream === null || closed || !stream.writable) return resolve();
        stream.write('', () => resolve());
      }),
  };
}
