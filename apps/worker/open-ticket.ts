import { randomUUID } from 'node:crypto';
import { WaitingError, type Job } from 'bullmq';
import {
  attemptId,
  CmoError,
  isWaiting,
  type Chosen,
  type DispatchRecord,
  type ErrorBody,
  type LaneConfig,
} from '#contract';
import type { Next, StartAnswer, TicketData } from '#queue';
import type { StoredTask } from '#store';
import type { NodeSlots } from './node-slots.js';
import { confirmLane } from './confirm-lane.js';
import { move } from './move.js';
import { overdue } from './overdue.js';
import { environmentFrom, parseEnvironment, type Environment } from './environment.js';
import { prepareRun } from './prepare-run.js';
import type { Resources } from './resources.js';
import type { Roster } from './roster.js';
import { boundLease } from './bound-lease.js';
import type { Place } from './work-places.js';

/** What becomes of a ticket that fits its record: it is run here by this decision, or its dispatch goes elsewhere. */
type Verdict = Run | { kind: 'move'; next: Next; why: string };
type Run = {
  kind: 'run';
  decision: Chosen;
  /** It is another one than the record's. */
  changed: boolean;
  /** What the attempt gets here. */
  submitted: Environment;
};

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

  return async (job, token) => {
    const { id, attempt } = job.data;
    const key = attemptId(id, attempt);
    const hold = holdOf(slots, () => gate.giveBack(token, lane.account));
    let entered = false;
    // Filled before the record is read: the scan skips what is being opened here.
    const opening = roster.open(id, attempt);
    try {
      const task = await records.task(id);
      if (!task || !fits(task.record, attempt, lane, clock())) {
        await hold.giveBack();
        return;
      }
      const { record } = task;
      const verdict = await judge(task);
      if (verdict.kind === 'move') {
        await hold.giveBack();
        await move(resources, record, verdict.next, verdict.why);
        return;
      }
      const place = places.enter(key, workPlace(record));
      if (!place.ok) {
        await hold.giveBack();
        await waitBehind(record, place.holder);
        return;
      }
      entered = true;
      const { decision, submitted } = verdict;
      const { folder, start } = await prepareRun(resources, { task, lane, decision, submitted });
      const answer = await bind(record, verdict, token);
      switch (answer.answer) {
        case 'stale':
          // The script dropped the reservation. The folder stays: it may be the one of a start that is going on.
          await hold.giveBack();
          return;
        case 'lapsed':
          // This process slept longer than the token's lease: back to the line, with a new reservation.
          await hold.giveBack();
          await job.moveToWait(token);
          throw new WaitingError();
        case 'yes': {
          hold.becomeRun();
          entered = false;
          const cancelAsked = answer.cancelAsked || opening.cancelAsked;
          await roster.tend({ id, attempt, folder, adopted: false, start, cancelAsked }).started;
          return;
        }
      }
    } catch (error) {
      await hold.giveBack().catch(() => {});
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

  async function judge(task: StoredTask): Promise<Verdict> {
    const { record } = task;
    const over = overdue(record, clock());
    if (over) return { kind: 'move', next: over, why: over.event };
    const submitted = environmentFrom(resources, record, parseEnvironment(task.environment));
    const confirmed = await confirmLane(resources, record, lane, submitted['PATH'] ?? '');
    return confirmed.kind === 'move' ? confirmed : { ...confirmed, submitted };
  }

  /** Its folder is in use: it has no ticket until that one ends. */
  async function waitBehind(record: DispatchRecord, holder: string): Promise<void> {
    const { id, attempt } = record;
    places.park(id, record.request.cwd);
    await transitions.behind(record, holder);
    log.info({ dispatch: id, attempt, holder }, 'its folder is in use: it waits for that one to end');
  }

  /** The script that binds the reservation to the attempt and says `running`. */
  function bind(record: DispatchRecord, { decision, changed }: Run, token: string): Promise<StartAnswer> {
    const { tier } = decision;
    const cost = costs.costsOf(lane, tier);
    return transitions.start({
      record,
      node,
      nonce: randomUUID(),
      token,
      cost,
      ttlMs: boundLease(record, config),
      change: changed ? { decision, tier, cost } : { cost },
    });
  }

  /** It could never be started here: opened again and again, its ticket would only cost. */
  async function endUnstartable(id: string, attempt: number, error: ErrorBody): Promise<boolean> {
    const record = await records.read(id);
    return (
      record?.attempt === attempt &&
      (await move(resources, record, { state: 'failed', event: 'failed', change: { error } }, error.message))
    );
  }
}

/** A ticket's slot of the node and its reserved points: they go back, once, or pass to the run. */
function holdOf(slots: NodeSlots, dropReservation: () => Promise<unknown>) {
  let holds = true;
  return {
    async giveBack(): Promise<void> {
      if (!holds) return;
      holds = false;
      slots.giveBack();
      await dropReservation();
    },
    becomeRun(): void {
      holds = false;
      slots.becomeRun();
    },
  };
}

function fits(record: DispatchRecord, attempt: number, lane: LaneConfig, now: number): boolean {
  if (record.attempt !== attempt || record.lane !== lane.id) return false;
  return isWaiting(record.state) && (record.notBefore ?? 0) <= now + 5;
}

function workPlace({ request, access }: DispatchRecord): Place {
  return { cwd: request.cwd, writes: access === 'write', exclusive: request.exclusive ?? false };
}
