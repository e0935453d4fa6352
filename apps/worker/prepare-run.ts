import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  attemptId,
  CmoError,
  DEFAULT_TIMEOUT_MS,
  errorBody,
  type Access,
  type Decision,
  type DispatchRecord,
  type LaneConfig,
  type TakeUp,
} from '#contract';
import { continuedNotice, independenceNotice, repairNotice, resumeNotice } from '#policy';
import { findExecutable, makeRun, runPath, type RunPlan } from '#runner';
import { ANY_NODE } from '#store';
import { adapterFor, captureEnvironment, childEnvironment, endpointOf } from '#vendors';
import { schemaAsGiven } from '#vendors/schema-rules';
import { diffStat } from './diff-stat.js';
import { wallClock } from './overdue.js';
import { planHead } from './plan-head.js';
import type { Resources } from './resources.js';
import { takeUpOn } from './take-up.js';

export type Environment = Record<string, string>;

/**
 * The environment that an attempt of this record gets here. Work for any node has its sender's toolchain on its
 * sender's node; elsewhere those paths mean nothing, so it has this node's own, with what was sent besides.
 */
export async function environmentHere(
  resources: Pick<Resources, 'records' | 'node' | 'environment'>,
  record: Pick<DispatchRecord, 'id' | 'home' | 'request'>,
): Promise<Environment> {
  const submitted = await submittedEnvironment(resources, record.id);
  if (record.home !== ANY_NODE || record.request.origin === resources.node) return submitted;
  const theirs = captureEnvironment(submitted, { names: [], values: {} }).env;
  const besides = Object.fromEntries(Object.entries(submitted).filter(([name]) => !Object.hasOwn(theirs, name)));
  return { ...besides, ...captureEnvironment(resources.environment, { names: [], values: {} }).env };
}

/**
 * Where an agent works that has no folder: its own empty one, the
 * same for all its attempts, since a session belongs to its folder.
 */
export function textFolder(runs: string, dispatch: string): string {
  return join(runs, 'text', dispatch);
}

/** The submitter's own environment, as it was captured; kept in Redis only. */
export async function submittedEnvironment({ records }: Pick<Resources, 'records'>, id: string): Promise<Environment> {
  const text = await records.blob(id, 'env');
  return text === null ? {} : (JSON.parse(text) as Environment);
}

/** The whole environment of the attempt's CLI. What was captured for another lane's passEnv stays out of this one. */
export function environmentOf(
  { config }: Pick<Resources, 'config'>,
  submitted: Environment,
  lane: LaneConfig,
  attempt: string,
  access: Access,
): Environment {
  const root = process.getuid?.() === 0;
  const others = config.lanes.filter(({ id }) => id !== lane.id).flatMap(({ passEnv }) => passEnv);
  const named = Object.keys(submitted).filter((name) => !others.includes(name));
  return childEnvironment({
    submitted,
    lane,
    adapterEnv: adapterFor(lane.kind).envFor({ access, root }),
    mark: attempt,
    named,
  });
}

/**
 * Makes the run folder of the record's attempt: everything a supervisor and a successor need, and no claim.
 * @param lost the attempt was started already, and its folder
 * was removed by somebody: nothing may start from the new one
 * @returns its path; a folder that stands there already is kept as it is
 */
export async function prepareRun(
  resources: Resources,
  record: DispatchRecord,
  lane: LaneConfig,
  decision: Extract<Decision, { ok: true }>,
  submitted: Environment,
  lost = false,
): Promise<string> {
  const { records, folders, config, node, clock } = resources;
  const id = attemptId(record.id, record.attempt);
  const [prompt, schema, before] = await Promise.all([
    wholeText(records, record.id, 'prompt'),
    wholeText(records, record.id, 'schema'),
    record.access === 'write' && !lost ? diffStat(record.request.cwd, submitted['PATH'] ?? '') : null,
  ]);
  if (prompt === null)
    throw new CmoError(errorBody('CMO_E_FAILED', 'its task is not kept any more', { fix: 'submit it again' }));

  const cwd = record.home === ANY_NODE ? textFolder(folders.runs, record.id) : record.request.cwd;
  if (record.home === ANY_NODE) await mkdir(cwd, { recursive: true, mode: 0o700 });
  const given = schema === null ? null : schemaAsGiven(lane.kind, schema);
  const adapter = adapterFor(lane.kind);
  const environment = environmentOf(resources, submitted, lane, id, record.access);
  const path = environment['PATH'] ?? '';
  const command = findExecutable(lane.command, path);
  const folder = runPath(folders.runs, id);
  const takeUp = takeUpHere(record, lane.id, node);
  const resume = takeUp !== null && takeUp.how !== 'continue' ? takeUp.session : null;
  const fresh = randomUUID();
  const argv = adapter.argv({
    model: decision.model,
    effort: decision.effort,
    access: record.access,
    fullAccess: record.request.fullAccess ?? false,
    cwd,
    files: {
      folder,
      lastMessage: join(folder, 'last-message'),
      schema: given === null ? null : join(folder, 'schema-given.json'),
    },
    schemaText: given,
    newSession: fresh,
    resume,
    readCommands: config.readCommands,
  });
  const plan: RunPlan = {
    ...planHead(record, lane, node),
    model: decision.model,
    effort: decision.effort,
    tier: decision.tier,
    // A command that left between the look and here fails in the supervisor, with a line and a class as any start.
    argv: [command ?? `/nonexistent/${lane.command}`, ...argv],
    cwd,
    deadlineMs: wallClock(record.request.timeoutMs ?? DEFAULT_TIMEOUT_MS, record, clock()),
    graceMs: config.timing.killGraceMs,
    silenceMs: lane.silenceMs,
    envNames: Object.keys(environment).sort(),
    session: resume ?? (lane.kind === 'claude' ? fresh : null),
    resumed: resume !== null,
    takesUp: takesUpOf(takeUp, record, lane.id),
    before,
    ...(record.request.exclusive && { exclusive: true }),
    cliVersion: null,
    endpoint: endpointOf(lane)?.host ?? null,
  };
  const partial = takeUp?.how === 'continue' ? await records.blob(record.id, 'partial') : null;
  const made = await makeRun(folders.runs, {
    plan,
    prompt: promptOf(prompt, decision, takeUp, partial),
    schemaText: schema ?? undefined,
    givenSchemaText: given ?? undefined,
    lost,
  });
  return made.folder;
}

/** A task that is cut is none: an agent that got the half of it would do something else. */
async function wholeText(records: Resources['records'], id: string, kind: 'prompt' | 'schema'): Promise<string | null> {
  const stored = await records.text(id, kind);
  if (!stored?.cut) return stored?.text ?? null;
  const { node, file } = stored.cut;
  throw new CmoError(
    errorBody('CMO_E_FAILED', `its ${kind} is not here: it is blobs/${file} in the state folder of ${node}`, {
      fix: 'submit it again',
    }),
  );
}

/** A session stays on the lane and the node where its files are; elsewhere the work of a writer goes on without it. */
function takeUpHere(record: DispatchRecord, lane: string, node: string): TakeUp | null {
  const takeUp = takeUpOn(lane, record.takeUp, record);
  if (takeUp === null || takeUp.how === 'continue' || takeUp.node === node) return takeUp;
  return record.access === 'write' ? { how: 'continue', from: takeUp.lane } : null;
}

/** In the words of the receipt. */
function takesUpOf(takeUp: TakeUp | null, record: DispatchRecord, lane: string): RunPlan['takesUp'] {
  switch (takeUp?.how) {
    case 'resume':
      return 'resumed';
    case 'repair':
      return 'repair';
    case 'continue':
      return 'continued';
    case undefined:
      return record.history.some((past) => past.lane === lane) ? 're-run' : null;
  }
}

/**
 * A session that goes on holds the task already and is told only what happened. Else it is the person's own words, with
 * nothing added but what a reviewer on the producer's vendor, or whoever carries work on, has to know.
 */
function promptOf(
  prompt: string,
  decision: Extract<Decision, { ok: true }>,
  takeUp: TakeUp | null,
  partial: string | null,
): string {
  if (takeUp?.how === 'resume') return resumeNotice();
  if (takeUp?.how === 'repair') return repairNotice(takeUp.problems);
  const parts = [prompt];
  if (decision.degradedReview) parts.push(independenceNotice(decision.vendor));
  if (takeUp?.how === 'continue') parts.push(continuedNotice(takeUp.from, partial));
  return parts.join('\n\n');
}
