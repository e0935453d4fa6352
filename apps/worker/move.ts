import type { DispatchRecord } from '#contract';
import type { Next } from '#queue';
import { payWhatIsOwed } from './owed-after.js';
import type { Resources } from './resources.js';

/**
 * Moves or ends a dispatch that waits, and does what is owed then: its new ticket, or its line. False: it waits no
 * more.
 */
export async function move(resources: Resources, record: DispatchRecord, next: Next, why: string): Promise<boolean> {
  const { transitions, log } = resources;
  if (!(await transitions.change(record, next))) return false;
  log.info(
    { dispatch: record.id, from: record.lane, to: next.change.lane ?? next.state, why },
    'waiting work was decided again',
  );
  await payWhatIsOwed(resources, record.id);
  return true;
}
