import { CmoError, censusOf, errorBody, type BatchData, type Envelope, type ListData } from '#contract';
import type { Context } from '../command.js';
import type { DaemonClient } from './daemon.js';
import { hasRecords } from './on-record.js';
import { pooled } from './pooled.js';

/** More than any batch of ours; the daemon lists no more at once. */
const MOST = 10_000;

/** Ids of a batch, in the order in which they were submitted. */
export async function idsOfBatch(client: DaemonClient, batch: string, context: Context): Promise<string[]> {
  const unknown = errorBody('CMO_E_NO_DISPATCH', `no batch ${batch}`, {
    fix: '`cmo ls --batches` lists those on record',
  });
  if (!(await hasRecords(context))) throw new CmoError(unknown);
  const query = new URLSearchParams({ batch, limit: String(MOST) });
  const listed = await client.call<ListData>({
    method: 'GET',
    path: `/v1/dispatches?${query.toString()}`,
    daemon: 'start',
  });
  if (!listed.ok) throw new CmoError(listed.error);
  const ids = listed.data.dispatches.map(({ id }) => id).sort();
  if (ids.length === 0) throw new CmoError(unknown);
  return ids;
}

/** Every envelope of it, as it is now. */
export async function readBatchData(client: DaemonClient, batch: string, context: Context): Promise<BatchData> {
  const dispatches = await pooled(await idsOfBatch(client, batch, context), async (id) => {
    const outcome = await client.call<Envelope>({ method: 'GET', path: `/v1/dispatches/${id}`, daemon: 'start' });
    if (!outcome.ok) throw new CmoError(outcome.error);
    return outcome.data;
  });
  return batchData(batch, dispatches);
}

export function batchData(batch: string, dispatches: Envelope[]): BatchData {
  return { batch, census: censusOf(dispatches.map(({ state }) => state)), dispatches };
}
