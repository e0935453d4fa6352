import { STATES, type DispatchClass, type DispatchRecord, type State } from '#contract';
import type { Redis } from 'ioredis';
import { keys } from './keys.js';
import { replies } from './pipeline.js';
import { parseRecord } from './record-fields.js';

/** Which dispatches; all given members must hold. */
export type Filter = {
  states?: readonly State[] | undefined;
  batch?: string | undefined;
  /** Each as `name=text`. */
  labels?: readonly string[] | undefined;
  /** The lane that it waits for, runs on or ran on last. */
  lane?: string | undefined;
  project?: string | undefined;
  /** Where it runs or ran; for what waits, where it must run. */
  node?: string | undefined;
  class?: DispatchClass | undefined;
  /** Submitted at this time or later, ms. */
  since?: number | undefined;
  needsLook?: boolean | undefined;
  limit: number;
};

/** Records read in one round trip: what doesn't fit is dropped again, so a rare one must not fetch them all at once. */
const CHUNK = 500;

/** The last submitted first. Throws when Redis can't answer: never an empty list instead. */
export async function listRecords(redis: Redis, filter: Filter): Promise<DispatchRecord[]> {
  const { limit } = filter;
  if (limit < 1) return [];
  const ids = await candidates(redis, filter);
  const found: DispatchRecord[] = [];
  for (let at = 0; at < ids.length && found.length < limit; at += CHUNK) {
    const records = await readRecords(redis, ids.slice(at, at + CHUNK));
    found.push(...records.filter((record) => fits(record, filter)));
  }
  return found.slice(0, limit);
}

export async function readRecords(redis: Redis, ids: readonly string[]): Promise<DispatchRecord[]> {
  const pipeline = redis.pipeline();
  for (const id of ids) pipeline.hgetall(keys.record(id));
  return (await replies(pipeline)).flatMap((fields) => {
    const record = parseRecord(fields as Record<string, string>);
    return record ? [record] : [];
  });
}

/** By the narrowest index there is. */
async function candidates(redis: Redis, { states, batch, labels, since, limit, ...rest }: Filter): Promise<string[]> {
  const from = since ?? '-inf';
  if (batch !== undefined) return redis.zrevrange(keys.batch(batch), 0, -1);
  const [label] = labels ?? [];
  if (label !== undefined) return redis.zrevrangebyscore(keys.label(label), '+inf', from);
  const onlyStates = Object.values(rest).every((value) => value === undefined);
  const pipeline = redis.pipeline();
  for (const state of states ?? STATES) {
    if (onlyStates) pipeline.zrevrangebyscore(keys.state(state), '+inf', from, 'WITHSCORES', 'LIMIT', 0, limit);
    else pipeline.zrevrangebyscore(keys.state(state), '+inf', from, 'WITHSCORES');
  }
  const found = (await replies(pipeline)).flatMap((reply) => pairs(reply as string[]));
  found.sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1));
  return found.map(({ id }) => id);
}

function fits(
  record: DispatchRecord,
  { states, batch, labels, lane, project, node, class: of, since, needsLook }: Filter,
): boolean {
  const said = record.request.labels ?? {};
  const has = (label: string): boolean => Object.entries(said).some(([name, value]) => `${name}=${value}` === label);
  return (
    (states === undefined || states.includes(record.state)) &&
    (batch === undefined || record.request.batch === batch) &&
    (labels === undefined || labels.every(has)) &&
    (lane === undefined || (record.lane ?? record.history.at(-1)?.lane) === lane) &&
    (project === undefined || record.project === project) &&
    (node === undefined || (record.node ?? record.home) === node) &&
    (of === undefined || record.class === of) &&
    (since === undefined || record.submittedAt >= since) &&
    (needsLook === undefined || record.needsLook === needsLook)
  );
}

/** Redis' flat answer: member, score, member, score, … */
function pairs(flat: readonly string[]): { id: string; at: number }[] {
  return flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: Number(flat[i + 1]) }] : []));
}
