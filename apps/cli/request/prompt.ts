import { closeSync, openSync, readSync } from 'node:fs';
import { CmoError, errorBody } from '#contract';
import type { Context } from '../command.js';

export type PromptSource = { prompt?: string; promptFile?: string };

/** Past what either CLI takes; a slip such as `< /dev/zero` must not fill the memory. */
const MOST_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const NOTICE_MS = 3_000;

/** The task's text, from a flag, a file or stdin. Nothing but blanks is no task: refused before anything is started. */
export async function readPrompt({ prompt, promptFile }: PromptSource, context: Context): Promise<string> {
  if (prompt !== undefined && promptFile !== undefined) {
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', '--prompt and --prompt-file together', { fix: 'say one of them' }),
    );
  }
  const text =
    prompt ??
    textOf(
      promptFile === undefined || promptFile === '-' ? await readStdin(context) : readFile(promptFile, '--prompt-file'),
      'the prompt',
    );
  if (text.trim() === '') throw new CmoError(errorBody('CMO_E_EMPTY_TASK'));
  return text;
}

/** `flag` is the one that named it. */
export function readFile(path: string, flag: string): Buffer {
  try {
    return readBounded(path, tooLarge);
  } catch (error) {
    if (error instanceof CmoError) throw error;
    throw new CmoError(
      errorBody('CMO_E_USAGE', `${flag}: the file can't be read: ${path}`, {
        details: [(error as Error).message],
        fix: `name an existing file with ${flag}`,
      }),
    );
  }
}

/** In pieces: a device has no size that could be looked at before. */
export function readBounded(path: string, tooLarge: () => Error): Buffer {
  const file = openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = readSync(file, chunk);
      if (read === 0) return Buffer.concat(chunks);
      size += read;
      if (size > MOST_BYTES) throw tooLarge();
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}

export async function readStdin({ output, paintNotes }: Context): Promise<Buffer> {
  if (process.stdin.isTTY)
    throw new CmoError(
      errorBody('CMO_E_EMPTY_TASK', 'the task is empty: no prompt was given, and stdin is a terminal'),
    );
  const notice = setTimeout(
    () => output.note(paintNotes.dim('cmo: waiting for the prompt on stdin (it ends where stdin ends)')),
    NOTICE_MS,
  );
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    // A closed stdin (`cmo run <&-`) is an empty one.
    if (error instanceof CmoError) throw error;
  } finally {
    clearTimeout(notice);
  }
  return Buffer.concat(chunks);
}

/** A text that is not UTF-8 would reach the agent with its letters replaced. */
export function textOf(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CmoError(
      errorBody('CMO_E_USAGE', `${what} is not UTF-8 text`, { fix: 'convert it: `iconv -f … -t UTF-8`' }),
    );
  }
}

function tooLarge(): CmoError {
  return new CmoError(
    errorBody('CMO_E_USAGE', `the prompt is larger than ${MOST_BYTES / 1024 / 1024} MB`, {
      fix: 'put the material into files, and name them in the prompt',
    }),
  );
}
