import { boundLease } from './bound-lease.js';
import { laneById, type Resources } from './resources.js';
import type { Roster } from './roster.js';

/** Renews the lease of every run tended here, and reads cancels again: their messages are lost while Redis is away. */
export async function heartbeat({ records, gate, config, node, log }: Resources, roster: Roster): Promise<void> {
  for (const tender of roster.all()) {
    const record = await records.read(tender.dispatch);
    if (!record || record.attempt !== tender.attempt) continue;
    if (record.cancelAsked) tender.cancel();
    const lane = laneById(config, record.lane);
    if (!lane || record.state !== 'running') continue;
    const { class: of, project } = record;
    const answer = await gate.renew({ dispatch: record.id, attempt: tender.attempt, lane, node, class: of, project, cost: record.cost, ttlMs: boundLease(record, config) });
    if (answer === 'made') log.warn({ dispatch: record.id, attempt: tender.attempt }, 'the reservation of a running agent was missing and was made again');
  }
}
