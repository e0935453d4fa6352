import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CmoError, errorBody, thrownMessage, type BatchData, type Envelope } from '#contract';
import type { Context } from '../command.js';
import { valued } from '../flags/flag.js';
import { line, word } from '../flags/readers.js';

/** How the answers of a batch are handed over: one envelope a line, or files of a folder. */
const FORMATS = ['jsonl', 'dir'] as const;
export type Format = (typeof FORMATS)[number];

export const FORMAT_FLAGS = {
  format: valued(
    '--format',
    'WORD',
    word(FORMATS),
    'of a batch: jsonl is an envelope a line, dir a file for each answer',
  ),
  out: valued(
    '--out',
    'FOLDER',
    line('the path of a folder'),
    'where the files go (default: a folder named as the batch)',
  ),
};

type Said = { format?: Format; out?: string; batch?: string };

/** These belong together; what would be ignored is refused. */
export function formatOf({ format, out, batch }: Said, context: Context): { format: Format; folder: string } | null {
  if (format !== undefined && batch === undefined)
    throw new CmoError(errorBody('CMO_E_USAGE', '--format is for a batch', { fix: 'name one with --batch' }));
  if (out !== undefined && format !== 'dir')
    throw new CmoError(errorBody('CMO_E_USAGE', '--out is for --format dir', { fix: 'say --format dir too' }));
  if (format === undefined || batch === undefined) return null;
  const folder = resolve(context.cwd, out ?? batch);
  // Before anything is waited for.
  if (format === 'dir') makeFolder(folder);
  return { format, folder };
}

/** One that has ended, as soon as it is there. */
export function handOver(
  envelope: Envelope,
  { format, folder }: { format: Format; folder: string },
  { output }: Context,
): void {
  if (format === 'jsonl') {
    output.line(JSON.stringify(envelope));
    return;
  }
  write(folder, `${envelope.dispatchId}.json`, `${JSON.stringify(envelope, null, 2)}\n`);
  if (envelope.resultJson !== null && envelope.resultJson !== undefined)
    write(folder, `${envelope.dispatchId}.result.json`, `${JSON.stringify(envelope.resultJson, null, 2)}\n`);
  else if (envelope.result !== null) write(folder, `${envelope.dispatchId}.md`, envelope.result);
}

/** Beside the answers, so that the folder says by itself whether it is whole. */
export function handOverCensus(
  { batch, census }: BatchData,
  { format, folder }: { format: Format; folder: string },
  { output }: Context,
): void {
  if (format !== 'dir') return;
  write(folder, 'census.json', `${JSON.stringify({ batch, census }, null, 2)}\n`);
  output.note(`written to ${folder}`);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw refused(folder, error);
  }
}

function write(folder: string, name: string, text: string): void {
  try {
    writeFileSync(join(folder, name), text);
  } catch (error) {
    throw refused(folder, error);
  }
}

function refused(folder: string, error: unknown): CmoError {
  return new CmoError(
    errorBody('CMO_E_USAGE', `the folder can't be written to: ${folder}`, {
      details: [thrownMessage(error)],
      fix: 'name another with --out',
    }),
  );
}
