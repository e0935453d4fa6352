import type { DispatchRecord } from '#contract';
import { attemptMark, findMarked, readPlan, readReceipt, setAsideRun, supervisorMark } from '#runner';
import { readConclusion } from './conclusion-file.js';
import { environmentFrom, parseEnvironment } from './environment.js';
import { prepareRun } from './prepare-run.js';
import { laneById, type Resources } from './resources.js';

/**
 * What is done about a run whose folder somebody removed, or a bad disk spoiled. Beside an agent that may be at work
 * nothing is started: the attempt gets a new folder that is claimed from the first moment by nobody who lives. Whoever
 * tends that one ends what still runs, and tells the attempt as interrupted.
 */
export async function remakeRun(resources: Resources, record: DispatchRecord): Promise<string | null> {
  const lane = laneById(resources.config, record.lane);
  if (!lane || !record.decision.ok) return null;
  const task = await resources.records.task(record.id);
  if (!task) return null;
  const submitted = environmentFrom(resources, record, parseEnvironment(task.environment));
  const { decision } = record;
  const { folder } = await prepareRun(resources, { task: { ...task, record }, lane, decision, submitted, lost: true });
  return folder;
}

/** What an attempt has started shows that it was. */
export async function hasProcesses(attempt: string): Promise<boolean> {
  return (await findMarked({ marks: [attemptMark(attempt), supervisorMark(attempt)] })).length > 0;
}

/** Which file of the folder can't be read; null: all that are there can. */
export async function flawOfRun(folder: string): Promise<string | null> {
  if ((await readPlan(folder)) === null) return 'plan.json';
  if (!(await isReadable(() => readConclusion(folder)))) return 'conclusion.json';
  if (!(await isReadable(() => readReceipt(folder)))) return 'receipt.json';
  return null;
}

async function isReadable(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    // A disk that can't be read now may be read later; a text that is no JSON stays none.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** @returns where the spoilt folder is kept for a look */
export async function setAside({ folders, log }: Resources, id: string, file: string): Promise<string> {
  const aside = await setAsideRun(folders.runs, id);
  log.error(
    { attempt: id, file, aside },
    'a run folder cannot be read: it is set aside, and the attempt is told as interrupted',
  );
  return aside;
}
