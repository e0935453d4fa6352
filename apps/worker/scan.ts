import { isEnded, isWaiting, parseAttemptId } from '#contract';
import { keys, readStanding } from '#store';
import { findRun, listRuns, readPlan, readStatus, removeRun, spoiltPart, voidClaim } from '#runner';
import { assertRun } from './assert-run.js';
import { flawOfRun, hasProcesses, remakeRun, setAside } from './lost-run.js';
import { payWhatIsOwed } from './owed-after.js';
import type { Resources } from './resources.js';
import type { Roster } from './roster.js';

/**
 * Finds every run of this node, at start before the first fetch and then every few seconds. Files win about processes:
 *   claimed, not delivered        → a tender (adopts, or delivers what is finished)
 *   claimed, the record forgot it → the record is put back to running first (a Redis that came back with less); also where a tender
 *     has it: on this node the claim keeps a second start away, on another one nothing but the record does
 *   unclaimed, the record runs it → a start to be finished: a tender starts the supervisor, the claim decides
 *   unclaimed, the record doesn't → nothing was started: voided, then removed
 *   can't be read any more        → set aside; what was started from it is ended and told as interrupted
 * and the other way round: a record that runs here without a
 * folder goes back to the line, unless its agent is seen at work.
 */
export async function scan(resources: Resources, roster: Roster): Promise<void> {
  const { folders } = resources;
  const runs = await listRuns(folders.runs);
  await assertTended(
    resources,
    runs.filter(({ id }) => roster.has(id)),
  );
  for (const run of runs) {
    if (roster.has(run.id) || roster.isOpening(run.id)) continue;
    // One folder that the disk doesn't let be read keeps no other, and no daemon from its start.
    await takeUp(resources, roster, run).catch((error: unknown) => {
      if (!isOfFiles(error)) throw error;
      resources.log.error(
        { attempt: run.id, error: error.message },
        'a run folder cannot be looked at; it is tried again',
      );
    });
  }
  await missingFolders(resources, roster);
}

function isOfFiles(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

type Run = { id: string; dispatch: string; attempt: number; folder: string };

async function takeUp(resources: Resources, roster: Roster, run: Run): Promise<void> {
  const { records, folders, node, log } = resources;
  const record = await records.read(run.dispatch);
  const runsHere = record?.state === 'running' && record.attempt === run.attempt && record.node === node;
  const spoilt = await spoiltPart(run.folder);
  if (spoilt !== null) {
    await setAside(resources, run.id, spoilt);
    // Whether its agent was started can't be read any more.
    const remade = runsHere ? await remakeRun(resources, record) : null;
    if (remade !== null) roster.tend({ id: run.dispatch, attempt: run.attempt, folder: remade, adopted: true });
    return;
  }
  const status = await readStatus(run.folder);
  switch (status.state) {
    case 'gone':
      return;
    case 'void':
      if (runsHere) await resources.transitions.unstart(record, run.attempt, node);
      await removeRun(folders.runs, run.id);
      if (runsHere) await payWhatIsOwed(resources, run.dispatch);
      return;
    case 'unclaimed':
      if (runsHere) break;
      // Its ticket will be opened, and uses this folder then.
      if (record && isWaiting(record.state) && record.attempt === run.attempt) return;
      if ((await voidClaim(run.folder)).voided) await removeRun(folders.runs, run.id);
      return;
    case 'claimed':
    case 'running':
    case 'exited':
      if (!runsHere && record) await assertRun(resources, run, await readPlan(run.folder));
      break;
  }
  const flaw = await flawOfRun(run.folder);
  if (flaw !== null) {
    await setAside(resources, run.id, flaw);
    // A run that was started from it is reported as such; otherwise the record has no folder and goes back to its queue.
    const remade = status.state !== 'unclaimed' && runsHere ? await remakeRun(resources, record) : null;
    if (remade === null) return;
  }
  log.info({ dispatch: run.dispatch, attempt: run.attempt, found: status.state }, 'adopted');
  // Asked while nobody here listened: not left to the next heartbeat, the agent would be paid for until then.
  const cancelAsked = runsHere && record.cancelAsked;
  roster.tend({ id: run.dispatch, attempt: run.attempt, folder: run.folder, adopted: true, cancelAsked });
}

async function assertTended(resources: Resources, runs: readonly Run[]): Promise<void> {
  for (const run of await forgotten(resources, runs)) {
    const { state } = await readStatus(run.folder);
    // Void: its tender is just putting it back into the line. Gone: it was delivered.
    if (state === 'claimed' || state === 'running' || state === 'exited')
      await assertRun(resources, run, await readPlan(run.folder));
  }
}

/**
 * After Redis was away: asserts runs that were delivered lately, in case it has forgotten those deliveries. The next scan
 * then finds a record that runs with a folder among the delivered, and repeats the third step of the delivery.
 */
export async function assertDelivered(resources: Resources, attempts: readonly string[]): Promise<void> {
  const runs = attempts.flatMap((id) => {
    const parsed = parseAttemptId(id);
    return parsed ? [{ id, ...parsed }] : [];
  });
  for (const run of await forgotten(resources, runs)) {
    const found = findRun(resources.folders.runs, run.id);
    if (found?.where === 'done') await assertRun(resources, run, await readPlan(found.folder));
  }
}

/** Of these runs, those whose record is behind them: it neither runs this attempt, nor is beyond it, nor has ended. */
async function forgotten<R extends Omit<Run, 'folder'>>(
  { redis }: Pick<Resources, 'redis'>,
  runs: readonly R[],
): Promise<R[]> {
  if (runs.length === 0) return [];
  const standings = await readStanding(
    redis,
    runs.map(({ dispatch }) => dispatch),
  );
  return runs.filter(({ attempt }, i) => {
    const record = standings[i];
    if (!record || isEnded(record.state) || record.attempt > attempt) return false;
    return record.state !== 'running' || record.attempt !== attempt;
  });
}

/** A record that says running here, without a folder or with one that is delivered: the crash came in between. */
async function missingFolders(resources: Resources, roster: Roster): Promise<void> {
  const { redis, records, transitions, folders, node, log } = resources;
  for (const id of await redis.smembers(keys.running(node))) {
    const record = await records.read(id);
    if (!record || record.state !== 'running' || record.node !== node) continue;
    const key = `${id}.${record.attempt}`;
    if (!parseAttemptId(key) || roster.has(key) || roster.isOpening(key)) continue;
    const found = findRun(folders.runs, key);
    if (found?.where === 'runs') continue;
    if (found?.where === 'done') {
      // Delivered, but the Redis that took the delivery is gone: step 3 is repeated from the folder.
      roster.tend({ id, attempt: record.attempt, folder: found.folder, adopted: true });
      continue;
    }
    const remade = (await hasProcesses(key)) ? await remakeRun(resources, record) : null;
    if (remade !== null) {
      log.error(
        { dispatch: id, attempt: record.attempt },
        'the run folder of an agent at work was removed: the agent is ended, and told as interrupted',
      );
      roster.tend({ id, attempt: record.attempt, folder: remade, adopted: true });
      continue;
    }
    if (await transitions.unstart(record, record.attempt, node)) {
      log.warn({ dispatch: id, attempt: record.attempt }, 'no run folder: nothing was started, back to the line');
      await payWhatIsOwed(resources, id);
    }
  }
}
