import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptReceipt } from '#contract';
import { parseAttemptId } from '#contract';
import { hasCode, readIfThere, syncFolder, writeFirst, writeWhole } from './durable-file.js';
import { flawOf, parsePlan, planId, type RunPlan } from './run-plan.js';

/**
 * `runs/<dispatch>.<attempt>/`, all that is known of one attempt on this box. Files win about processes.
 *
 *   prompt plan.json [schema.json]   written by the worker, before the record says running
 *   [schema-given.json]              the schema as this CLI is given it; the answer is held to the other
 *   claim                            the only licence to start a CLI; the first link wins
 *   run.json  out  err  [timed-out]  written by the supervisor
 *   exit.json                        its last word: the CLI has left
 *   [cancel] receipt.json delivered  written by the tender; delivered folders move to runs/done
 */
export type RunInput = {
  plan: RunPlan;
  prompt: string;
  schemaText?: string | undefined;
  /** As the CLI reads it from its file. */
  givenSchemaText?: string | undefined;
  /** The attempt was started but its folder is lost: the new one is claimed from the start, by a dead process. */
  lost?: boolean;
};

export type MadeRun = { made: boolean; folder: string; where: 'runs' | 'done' };

const DONE = 'done';
const BROKEN = 'broken';
const UNNAMED = '.new-';

export function runPath(runs: string, id: string): string {
  return join(runs, id);
}

/** Absolute paths of what others read or write in there; `schema` may not exist. */
export type RunPaths = { prompt: string; schema: string; out: string; err: string; lastMessage: string };

export function runFiles(folder: string): RunPaths {
  const path = (name: string): string => join(folder, name);
  return {
    prompt: path('prompt'),
    schema: path('schema.json'),
    out: path('out'),
    err: path('err'),
    lastMessage: path('last-message'),
  };
}

/**
 * Makes the folder, whole or not at all, without `claim`. `made: false`: this attempt has its folder already, and that
 * one is kept as it is (a ticket delivered twice, or a start that died half-way).
 */
export async function makeRun(
  runs: string,
  { plan, prompt, schemaText, givenSchemaText, lost = false }: RunInput,
): Promise<MadeRun> {
  const flaw = flawOf(plan);
  if (flaw !== null) throw new RangeError(flaw);
  const known = findRun(runs, planId(plan));
  if (known) return { made: false, ...known };

  const temp = join(runs, `${UNNAMED}${process.pid}-${randomUUID()}`);
  await mkdir(temp, { recursive: true, mode: 0o700 });
  await Promise.all([
    writeSynced(join(temp, 'prompt'), prompt),
    writeSynced(join(temp, 'plan.json'), `${JSON.stringify(plan)}\n`),
    schemaText === undefined ? undefined : writeSynced(join(temp, 'schema.json'), schemaText),
    givenSchemaText === undefined ? undefined : writeSynced(join(temp, 'schema-given.json'), givenSchemaText),
    lost ? writeSynced(join(temp, 'claim'), '{}\n') : undefined,
  ]);
  const folder = runPath(runs, planId(plan));
  try {
    await rename(temp, folder);
  } catch (error) {
    await rm(temp, { recursive: true, force: true });
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return { made: false, folder, where: 'runs' };
    throw error;
  }
  await Promise.all([syncFolder(folder), syncFolder(runs)]);
  return { made: true, folder, where: 'runs' };
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Null: no folder of this attempt on this box, delivered or not. */
export function findRun(runs: string, id: string): { folder: string; where: 'runs' | 'done' } | null {
  const folder = runPath(runs, id);
  if (existsSync(folder)) return { folder, where: 'runs' };
  const done = join(runs, DONE, id);
  return existsSync(done) ? { folder: done, where: 'done' } : null;
}

/**
 * Attempts that are not delivered yet, oldest dispatch first. Costs a look at the open ones only: delivered ones lie
 * elsewhere.
 */
export async function listRuns(
  runs: string,
): Promise<{ id: string; dispatch: string; attempt: number; folder: string }[]> {
  const names = await readdir(runs).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  return names.sort().flatMap((id) => {
    const parsed = parseAttemptId(id);
    return parsed ? [{ id, ...parsed, folder: runPath(runs, id) }] : [];
  });
}

/**
 * Folders that their maker left half-made when it died. @param olderThanMs ms of age, by the file system's time,
 * against `now`
 */
export async function removeHalfMade(runs: string, olderThanMs: number, now: number): Promise<void> {
  const names = await readdir(runs).catch(() => []);
  for (const name of names.filter((entry) => entry.startsWith(UNNAMED))) {
    const made = await stat(join(runs, name)).catch(() => null);
    if (made && now - made.mtimeMs > olderThanMs) await rm(join(runs, name), { recursive: true, force: true });
  }
}

/** Null: no plan there, or not one that this version reads. */
export async function readPlan(folder: string): Promise<RunPlan | null> {
  const text = await readIfThere(join(folder, 'plan.json'));
  return text === null ? null : parsePlan(text);
}

/** A successor must know that a cancel was under way: the file comes before the first signal. */
export async function askCancel(folder: string): Promise<void> {
  await writeFirst(join(folder, 'cancel'), '');
}

export function isCancelAsked(folder: string): boolean {
  return existsSync(join(folder, 'cancel'));
}

/**
 * The first receipt stays: what was classified once is never classified otherwise. @returns the one that is there now
 */
export async function writeReceipt(
  folder: string,
  receipt: AttemptReceipt,
): Promise<{ first: boolean; receipt: AttemptReceipt }> {
  const first = await writeFirst(join(folder, 'receipt.json'), `${JSON.stringify(receipt)}\n`);
  return { first, receipt: first ? receipt : ((await readReceipt(folder)) ?? receipt) };
}

/** Null: not delivered so far. */
export async function readReceipt(folder: string): Promise<AttemptReceipt | null> {
  const text = await readIfThere(join(folder, 'receipt.json'));
  return text === null ? null : (JSON.parse(text) as AttemptReceipt);
}

export function isDelivered(folder: string): boolean {
  return existsSync(join(folder, 'delivered'));
}

/** All that is read or written by name in a run folder, here, by the supervisors and by the worker. */
const FILES = new Set([
  'prompt',
  'plan.json',
  'schema.json',
  'schema-given.json',
  'claim',
  'run.json',
  'out',
  'err',
  'timed-out',
  'exit.json',
  'cancel',
  'ended-by',
  'last-message',
  'conclusion.json',
  'receipt.json',
  'delivered',
]);

/**
 * The part of a run folder that has the wrong type: a folder or a link in a file's place, a file in the folder's.
 * Reading it would fail every time. Null: none, or there is no folder.
 */
export async function spoiltPart(folder: string): Promise<string | null> {
  try {
    if (!(await lstat(folder)).isDirectory()) return 'the folder itself';
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.find((entry) => FILES.has(entry.name) && !entry.isFile())?.name ?? null;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The last step of a delivery; may be repeated. @returns where the folder lies now */
export async function markDelivered(runs: string, id: string): Promise<string> {
  const folder = runPath(runs, id);
  const done = join(runs, DONE, id);
  if (!existsSync(folder)) return done;
  await writeWhole(join(folder, 'delivered'), '');
  await mkdir(join(runs, DONE), { recursive: true, mode: 0o700 });
  try {
    await rename(folder, done);
  } catch (error) {
    // Something of that name lies there, which no delivery has put there.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error;
    await moveAside(runs, done, id);
    await rename(folder, done);
  }
  await syncFolder(join(runs, DONE));
  await syncFolder(runs);
  return done;
}

/** For a folder that can't be read any more: it is kept for a look, out of the way. @returns where it lies now */
export async function setAsideRun(runs: string, id: string): Promise<string> {
  const aside = await moveAside(runs, runPath(runs, id), id);
  await syncFolder(runs);
  return aside;
}

async function moveAside(runs: string, path: string, id: string): Promise<string> {
  const broken = join(runs, BROKEN);
  await mkdir(broken, { recursive: true, mode: 0o700 });
  const aside = join(broken, `${id}-${randomUUID().slice(0, 8)}`);
  await rename(path, aside);
  return aside;
}

/** For a folder that never started anything and that no record wants. */
export async function removeRun(runs: string, id: string): Promise<void> {
  await rm(runPath(runs, id), { recursive: true, force: true });
}
