import { DISPATCH_ID, errorBody, isEnded, STATES, type DispatchRecord, type Matched, type State } from '#contract';
import { batchName, state } from '#contract/schemas/words';
import * as z from 'zod/mini';
import { refuse } from './answers.js';
import type { ApiResources } from './resources.js';

const label = z.string().check(z.regex(/^[^=]{1,256}=/), z.maxLength(600));

/** The members of a body that choose dispatches: `ids`, or `select`; with `dryRun` they are only counted. */
export const picking = {
  ids: z.exactOptional(z.array(z.string().check(z.regex(DISPATCH_ID))).check(z.minLength(1), z.maxLength(10_000))),
  select: z.exactOptional(
    z.strictObject({
      states: z.exactOptional(z.array(state)),
      batch: z.exactOptional(batchName),
      labels: z.exactOptional(z.array(label)),
    }),
  ),
  dryRun: z.exactOptional(z.boolean()),
};

export type Picking = { ids?: string[]; select?: { states?: State[]; batch?: string; labels?: string[] } };

/** No listing is as long; a queue of this depth is read in seconds. */
const MOST = 1_000_000;

/**
 * The dispatches that a body names, the first submitted first. An id that is not on record refuses all.
 * @param states what counts where the selection names none
 */
export async function pick(
  { ids, select }: Picking,
  { records }: Pick<ApiResources, 'records'>,
  states: readonly State[],
): Promise<DispatchRecord[]> {
  if ((ids === undefined) === (select === undefined))
    return refuse(
      errorBody('CMO_E_USAGE', 'say either ids or a selection', { fix: 'see docs/reference for the HTTP interface' }),
    );
  if (ids !== undefined) {
    const found = await Promise.all(ids.map((id) => records.read(id)));
    const missing = ids.filter((_, i) => found[i] === null);
    if (missing.length > 0)
      return refuse(
        errorBody('CMO_E_NO_DISPATCH', `no dispatch ${missing[0] ?? ''}`, {
          details: missing.slice(1, 20).map((id) => `no dispatch ${id}`),
        }),
      );
    return found.flatMap((record) => record ?? []);
  }
  if (!select || Object.values(select).every((value) => value === undefined))
    return refuse(
      errorBody('CMO_E_USAGE', 'the selection names nothing: it would be everything', {
        fix: 'name a batch, a label or a state',
      }),
    );
  if (select.batch !== undefined && (await records.census(select.batch)) === null)
    return refuse(
      errorBody('CMO_E_NO_DISPATCH', `no batch ${select.batch}`, { fix: '`cmo ls --batches` lists those on record' }),
    );
  return (await records.list({ ...select, states: select.states ?? states, limit: MOST })).reverse();
}

export function matchedOf(found: readonly DispatchRecord[]): Matched {
  const states = STATES.flatMap((one) => {
    const n = found.filter((record) => record.state === one).length;
    return n > 0 ? [[one, n] as const] : [];
  });
  return { matched: found.length, states: Object.fromEntries(states) };
}

export const ENDED = STATES.filter(isEnded);
export const LIVE = STATES.filter((one) => !isEnded(one));
