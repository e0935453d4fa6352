import { randomUUID } from 'node:crypto';
import { WaitingError, type Job } from 'bullmq';
import { attemptId, CmoError, isWaiting, type DispatchRecord, type ErrorBody, type LaneConfig } from '#contract';
import type { TicketData } from '#queue';
import type { NodeSlots } from './node-slots.js';
import { confirmLane } from './confirm-lane.js';
import { move } from './move.js';
import { overdue } from './overdue.js';
import { environmentFrom, parseEnvironment } from './environment.js';
import { prepareRun } from './prepare-run.js';
import type { Resources } from './resources.js';
import type { Roster } from './roster.js';
import { boundLease } from './bound-lease.js';

/**
 * Opens one start ticket, in this order (each step's place was paid for once):
 *   record fits? → run folder (no claim) → one script binds and sets running → tender → wait, bounded, for run.json.
 * The folder comes before the record says running: a record without a folder is the one state that no scan can
 * finish. A ticket that doesn't fit is dropped without a word; the record decides, tickets are only the order.
 */
export function ticketOpener(
  resources: Resources,
  lane: LaneConfig,
  slots: NodeSlots,
  roster: Roster,
): (job: Job<TicketData>, token: string) => Promise<void> {
  const { records, gate, transitions, config, node, clock, log, costs, places } = resources;

  /** It could never be started here: opened again and again, its ticket would only cost. */
  const endUnstartable = async (id: string, attempt: number, error: ErrorBody): Promise<boolean> => {
    const record = await records.read(id);
    return (
      record?.attempt === attempt &&
      (await move(resources, record, { state: 'failed', event: 'failed', change: { error } }, error.message))
    );
  };

  return async (job, token) => {
    const { id, attempt } = job.data;
    const key = attemptId(id, attempt);
    let holds = true;
    let entered = false;
    const giveBack = async (): Promise<void> => {
      if (!holds) return;
      holds = false;
      slots.giveBack();
      await gate.giveBack(token, lane.account);
    };
    // Filled before the record is read: the scan skips what is being opened here.
    const opening = roster.open(id, attempt);
    try {
      const task = await records.task(id);
      if (!task || !fits(task.record, attempt, lane, clock())) {
        await giveBack();
        return;
      }
      const { record } = task;
      const over = overdue(record, clock());
      if (over) {
        await giveBack();
        await move(resources, record, over, over.event);
        return;
      }
      const submitted = environmentFrom(resources, record, parseEnvironment(task.environment));
      const confirmed = await confirmLane(resources, record, lane, submitted['PATH'] ?? '');
      if (confirmed.kind === 'move') {
        await giveBack();
        await move(resources, record, confirmed.next, confirmed.why);
        return;
      }
      const { decision, changed } = confirmed;
      const { cwd, exclusive = false } = record.request;
      const place = places.enter(key, { cwd, writes: record.access === 'write', exclusive });
      if (!place.ok) {
        await giveBack();
        places.park(id, cwd);
        await transitions.behind(record, place.holder);
        log.info({ dispatch: id, attempt, holder: place.holder }, 'its folder is in use: it waits for that one to end');
        return;
      }
      entered = true;
      const { folder, start } = await prepareRun(resources, task, lane, decision, submitted);
      const cost = costs.costsOf(lane, decision.tier);
      const answer = await transitions.start({
        record,
        node,
        nonce: randomUUID(),
        token,
        cost,
        ttlMs: boundLease(record, config),
        change: changed ? { decision, tier: decision.tier, cost } : { cost },
      });
      switch (answer.answer) {
        case 'stale':
          // The script dropped the reservation. The folder stays: it may be the one of a start that is going on.
          await giveBack();
          return;
        case 'lapsed':
          // This process slept longer than the token's lease: back to the line, with a new reservation.
          await giveBack();
          await job.moveToWait(token);
          throw new WaitingError();
        case 'yes':
          holds = false;
          entered = false;
          slots.becomeRun();
          await roster.tend({
            id,
            attempt,
            folder,
            adopted: false,
            start,
            cancelAsked: answer.cancelAsked || opening.cancelAsked,
          }).started;
          return;
      }
    } catch (error) {
      await giveBack().catch(() => {});
      if (error instanceof CmoError && (await endUnstartable(id, attempt, error.body))) return;
      if (!(error instanceof WaitingError))
        log.error(
          { dispatch: id, attempt, error: String(error) },
          'a ticket could not be opened; the sweeper adds it again',
        );
      throw error;
    } finally {
      if (entered) places.leave(key);
      roster.close(opening);
    }
  };
}

function fits(record: DispatchRecord, attempt: number, lane: LaneConfig, now: number): boolean {
  if (record.attempt !== attempt || record.lane !== lane.id) return false;
  return isWaiting(record.state) && (record.notBefore ?? 0) <= now + 5;
}
