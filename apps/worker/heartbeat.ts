import { isEnded, type DispatchRecord } from '#contract';
import { boundLease } from './bound-lease.js';
import { laneById, type Resources } from './resources.js';
import type { Roster } from './roster.js';

/**
 * Renews the lease of every run tended here, and reads cancels again, whose messages are lost while Redis is away. An
 * agent whose record has moved on to another attempt (this node was taken for dead) is ended: it spends points that no
 * reservation counts.
 */
export async function heartbeat({ records, gate, config, node, log }: Resources, roster: Roster): Promise<void> {
  for (const tender of roster.all()) {
    const record = await records.read(tender.dispatch);
    if (record && isBeyond(record, tender.attempt, node)) tender.cancel();
    if (!record || record.attempt !== tender.attempt) continue;
    if (record.cancelAsked) tender.cancel();
    const lane = laneById(config, record.lane);
    if (!lane || record.state !== 'running') continue;
    const { class: of, project } = record;
    const answer = await gate.renew({
      dispatch: record.id,
      attempt: tender.attempt,
      lane,
      node,
      class: of,
      project,
      cost: record.cost,
      ttlMs: boundLease(record, config),
    });
    if (answer === 'made')
      log.warn(
        { dispatch: record.id, attempt: tender.attempt },
        'the reservation of a running agent was missing and was made again',
      );
  }
}

/** Not: before it, which a Redis that fell back says for a moment. */
function isBeyond(record: DispatchRecord, attempt: number, node: string): boolean {
  return (
    record.attempt > attempt ||
    (record.attempt === attempt && (isEnded(record.state) || (record.state === 'running' && record.node !== node)))
  );
}
