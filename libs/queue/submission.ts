import type { DispatchRecord } from '#contract';
import { ANY_NODE, packSubmitted, queueName, recordFields, type BlobKind, type BlobPlace } from '#store';

export type NewDispatch = {
  record: DispatchRecord;
  blobs: { prompt: string; schema: string | null; env: string };
  /** Digest of the task; needed where the request names a `once` key. */
  task?: string;
};

/** What the submit script is given: an entry for each dispatch, and behind that the texts that the entries point at. */
export type Submission = { entries: object[]; texts: Buffer[] };

/** @param place where this box keeps texts that are too large for Redis */
export async function submission(news: readonly NewDispatch[], place: BlobPlace | null): Promise<Submission> {
  const made: Submission = { entries: [], texts: [] };
  for (const one of news) made.entries.push({ ...entryOf(one), texts: await packTexts(one, place, made.texts) });
  return made;
}

function entryOf({ record, task }: NewDispatch): object {
  const { request } = record;
  return {
    id: record.id,
    state: record.state,
    class: record.class,
    flow: request.batch ?? record.project,
    batch: request.batch,
    labels: labelsOf(request.labels),
    once: request.once === undefined ? undefined : { key: request.once, body: task ?? '' },
    retryOf: request.retryOf,
    fields: recordFields(record, record.lane === null ? '' : queueName(record.lane, record.home)),
  };
}

/** As they are looked up: `name=text`. */
export function labelsOf(labels: Record<string, string> | undefined): string[] {
  return Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
}

/** Adds the dispatch's texts to `texts`. @returns of each its place in ARGV, which begins at 1 with the JSON */
async function packTexts(
  { record: { id, home }, blobs }: NewDispatch,
  place: BlobPlace | null,
  texts: Buffer[],
): Promise<Record<string, number>> {
  // What every box may have to read must not lie on this one.
  const where = home === ANY_NODE ? null : place;
  const kept: [BlobKind, string | null, BlobPlace | null][] = [
    ['prompt', blobs.prompt, where],
    ['schema', blobs.schema, where],
    // Its values may be secrets: they never touch the disk but as Redis writes them.
    ['env', blobs.env, null],
  ];
  const at: Record<string, number> = {};
  for (const [kind, text, file] of kept)
    if (text !== null) at[kind] = texts.push(await packSubmitted(file, id, kind, text)) + 1;
  return at;
}
