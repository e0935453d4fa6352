import { CmoError, errorBody, type Config, type DispatchRequest, type ErrorBody } from '#contract';
import { refreshed } from '../client/refreshed.js';
import type { Context } from '../command.js';
import { wrongLines } from '../flags/parse.js';
import { batchNameOf, readBatch, type BatchEntry } from './batch-file.js';
import { buildRequest, type Door } from './build.js';
import type { TaskSource } from './task-source.js';
import type { TaskValues } from './told.js';

/** A batch that is right as far as this side can tell; `names[i]` says where `requests[i]` was read. */
export type Batch = {
  name: string;
  names: string[];
  requests: DispatchRequest[];
  /** The `--once` key of the whole batch. */
  once: string | undefined;
};

const MOST_LINES = 50;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Every entry is looked at before one is refused, and with one that is wrong there is no batch. */
export async function buildBatch(
  path: string,
  flags: TaskValues,
  door: Door,
  config: Config,
  context: Context,
): Promise<Batch> {
  // Said on the command line it is the batch's; an entry may say its own.
  const { once, ...each } = flags;
  const entries = await readBatch(path, each, context);
  const requests = await refuseEntries(entries, door.command, (source) => buildRequest(source, door, config, context));
  await refreshed(
    entries.flatMap(({ read }) => (read.ok ? [read.source.told.values] : [])),
    context,
  );
  const batch = flags.batchName ?? batchNameOf(path, requests[0]?.id ?? '');
  return {
    name: batch,
    names: entries.map(({ name }) => name),
    requests: requests.map((request, i) => ({ ...request, id: inOrder(request.id, i), batch })),
    once,
  };
}

/** Runs `make` on each entry; when any of them is wrong, throws what is wrong with all of them. */
export async function refuseEntries<T>(
  entries: readonly BatchEntry[],
  command: string,
  make: (source: TaskSource) => Promise<T>,
): Promise<T[]> {
  const made: T[] = [];
  const errors: ErrorBody[] = [];
  for (const { name, read } of entries) {
    if (!read.ok) errors.push(errorBody('CMO_E_UNKNOWN_VALUE', undefined, { details: wrongLines(read.wrong) }));
    else
      await make(read.source).then(
        (one) => made.push(one),
        (error: unknown) => errors.push(named(error, name)),
      );
  }
  if (errors.length > 0) throw new CmoError(refusalOf(errors, entries, command));
  return made;
}

/** The daemon numbers what it refuses; a person knows lines and files. */
export function withNames({ names, requests }: Batch, error: ErrorBody): ErrorBody {
  const told = (text: string): string => {
    const numbered = text.replace(/dispatches\[(\d+)\]\.?/g, (whole, i: string) =>
      names[Number(i)] === undefined ? whole : `${names[Number(i)] ?? ''} `,
    );
    return requests.reduce((line, { id }, i) => line.replaceAll(id, names[i] ?? id), numbered);
  };
  return { ...error, message: told(error.message), ...(error.details && { details: error.details.map(told) }) };
}

function named(error: unknown, name: string): ErrorBody {
  if (!(error instanceof CmoError)) throw error;
  const { body } = error;
  const lines = [body.message, ...(body.details ?? [])].map((line) =>
    line.startsWith(name) ? line : `${name}: ${line}`,
  );
  return { ...body, details: lines };
}

function refusalOf(errors: readonly ErrorBody[], entries: readonly BatchEntry[], command: string): ErrorBody {
  const codes = new Set(errors.map(({ code }) => code));
  const [first] = errors;
  const lines = errors.flatMap(({ details }) => details ?? []);
  const shown =
    lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more`] : lines;
  const message = `${errors.length} of ${entries.length} entries ${errors.length === 1 ? 'is' : 'are'} wrong; none was taken`;
  return errorBody(codes.size === 1 && first ? first.code : 'CMO_E_USAGE', message, {
    details: shown,
    fix: `fix what is named above; see \`cmo help ${command}\``,
  });
}

/** Ids of one millisecond sort by chance; those of a batch by their place in it. */
function inOrder(id: string, index: number): string {
  return id.slice(0, 12) + ALPHABET.charAt(Math.floor(index / 32) % 32) + ALPHABET.charAt(index % 32) + id.slice(14);
}
