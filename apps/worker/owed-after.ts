import { isEnded, type State } from '#contract';
import { payOwed } from '#receipts';
import type { Resources } from './resources.js';

/**
 * What a change of a record's state leaves to do: the dispatch line of what has ended, the ticket of what waits again.
 * From the record as it now is, not from what a script answered: a repeated step is answered as one that came too late.
 * Whoever dies before it loses nothing: the sweeper does the same some seconds later.
 * @returns the state it has now; undefined: there is no such record
 */
export async function payWhatIsOwed(
  { records, tickets, outbox }: Pick<Resources, 'records' | 'tickets' | 'outbox'>,
  id: string,
): Promise<State | undefined> {
  const now = await records.read(id);
  if (now && isEnded(now.state)) await payOwed(outbox, id);
  else if (now && now.state !== 'running') await tickets.add([now]);
  return now?.state;
}
