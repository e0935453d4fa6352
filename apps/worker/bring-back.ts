import { isWaiting, thrownMessage } from '#contract';
import type { Resources } from './resources.js';

/** Gives dispatches whose folder is free again their tickets. Where that fails, the sweeper does it later. */
export async function bringBack(
  { records, transitions, tickets, log }: Pick<Resources, 'records' | 'transitions' | 'tickets' | 'log'>,
  dispatches: readonly string[],
): Promise<void> {
  try {
    for (const id of dispatches) {
      const record = await records.read(id);
      if (!record || !isWaiting(record.state)) continue;
      await transitions.behind(record, null);
      await tickets.add([record]);
    }
  } catch (error) {
    log.warn(
      { error: thrownMessage(error) },
      'dispatches that waited for their folder got no ticket; the sweeper adds it',
    );
  }
}
