import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  attemptId,
  CmoError,
  DEFAULT_TIMEOUT_MS,
  errorBody,
  type Chosen,
  type DiffStat,
  type DispatchRecord,
  type LaneConfig,
  type TakeUp,
} from '#contract';
import { continuedNotice, independenceNotice, repairNotice, resumeNotice } from '#policy';
import { findExecutable, makeRun, runPath, type RunPlan } from '#runner';
import { ANY_NODE, type StoredTask } from '#store';
import { adapterFor, endpointOf } from '#vendors';
import { schemaAsGiven } from '#vendors/schema-rules';
import { diffStat } from './diff-stat.js';
import { environmentOf, type Environment } from './environment.js';
import { wallClock } from './overdue.js';
import { planHead } from './plan-head.js';
import type { Resources } from './resources.js';
import { takeUpOn } from './take-up.js';

/**
 * Where an agent works that has no folder: its own empty one, the
 * same for all its attempts, since a session belongs to its folder.
 */
function textFolder(runs: string, dispatch: string): string {
  return join(runs, 'text', dispatch);
}

/**
 * A run folder, and what its maker has in hand to start from it at once. Null: the folder stood there already, with a
 * plan of its own.
 */
export type PreparedRun = { folder: string; start: { plan: RunPlan; environment: Environment } | null };

export type RunToPrepare = {
  task: StoredTask;
  lane: LaneConfig;
  decision: Chosen;
  /** The environment that the attempt gets here. */
  submitted: Environment;
  /** The attempt was started already, and its folder was removed by somebody: nothing may start from the new one. */
  lost?: boolean;
};

/**
 * Makes the run folder of the record's attempt: everything a supervisor and a successor need, and no claim.
 * A folder that stands there already is kept as it is.
 */
export async function prepareRun(
  resources: Resources,
  { task, lane, decision, submitted, lost = false }: RunToPrepare,
): Promise<PreparedRun> {
  const { records, folders, node } = resources;
  const { record } = task;
  const { prompt, schema } = textsOf(task);
  const writes = record.access === 'write' && !lost;
  const before = writes ? await diffStat(record.request.cwd, submitted['PATH'] ?? '') : null;
  const cwd = await workFolder(folders.runs, record);
  const given = schema === null ? null : schemaAsGiven(lane.kind, schema);
  const attempt = attemptId(record.id, record.attempt);
  const environment = environmentOf(resources, submitted, lane, attempt, record.access);
  const takeUp = takeUpHere(record, lane.id, node);
  const plan = planOf(resources, { record, lane, decision, takeUp, cwd, before, environment, schemaText: given });
  const partial = takeUp?.how === 'continue' ? await records.blob(record.id, 'partial') : null;
  const made = await makeRun(folders.runs, {
    plan,
    prompt: promptOf(prompt, decision, takeUp, partial),
    schemaText: schema ?? undefined,
    givenSchemaText: given ?? undefined,
    lost,
  });
  return { folder: made.folder, start: made.made ? { plan, environment } : null };
}

type RunToPlan = {
  record: DispatchRecord;
  lane: LaneConfig;
  decision: Chosen;
  takeUp: TakeUp | null;
  cwd: string;
  before: DiffStat | null;
  /** The whole of the CLI's. */
  environment: Environment;
  /** As the vendor's CLI is given it. */
  schemaText: string | null;
};

function planOf({ folders, config, node, clock }: Resources, run: RunToPlan): RunPlan {
  const { record, lane, decision, takeUp, cwd, before, environment, schemaText } = run;
  const folder = runPath(folders.runs, attemptId(record.id, record.attempt));
  const resume = takeUp !== null && takeUp.how !== 'continue' ? takeUp.session : null;
  const fresh = randomUUID();
  const args = adapterFor(lane.kind).argv({
    model: decision.model,
    effort: decision.effort,
    access: record.access,
    fullAccess: record.request.fullAccess ?? false,
    cwd,
    files: {
      folder,
      lastMessage: join(folder, 'last-message'),
      schema: schemaText === null ? null : join(folder, 'schema-given.json'),
    },
    schemaText,
    newSession: fresh,
    resume,
    readCommands: config.readCommands,
  });
  // A command that left between the look and here fails in the supervisor, with a line and a class as any start.
  const command = findExecutable(lane.command, environment['PATH'] ?? '') ?? `/nonexistent/${lane.command}`;
  return {
    ...planHead(record, lane, node),
    model: decision.model,
    effort: decision.effort,
    tier: decision.tier,
    argv: [command, ...args],
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
}

/** Where the agent works: its sender's folder, or, of a task for any node, one that is made for it. */
async function workFolder(runs: string, { id, home, request }: DispatchRecord): Promise<string> {
  if (home !== ANY_NODE) return request.cwd;
  const folder = textFolder(runs, id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function textsOf(task: StoredTask): { prompt: string; schema: string | null } {
  const [prompt, schema] = [wholeText(task, 'prompt'), wholeText(task, 'schema')];
  if (prompt === null)
    throw new CmoError(errorBody('CMO_E_FAILED', 'its task is not kept any more', { fix: 'submit it again' }));
  return { prompt, schema };
}

/** A task that is cut is none: an agent that got the half of it would do something else. */
function wholeText(task: StoredTask, kind: 'prompt' | 'schema'): string | null {
  const stored = task[kind];
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
function promptOf(prompt: string, decision: Chosen, takeUp: TakeUp | null, partial: string | null): string {
  if (takeUp?.how === 'resume') return resumeNotice();
  if (takeUp?.how === 'repair') return repairNotice(takeUp.problems);
  const parts = [prompt];
  if (decision.degradedReview) parts.push(independenceNotice(decision.vendor));
  if (takeUp?.how === 'continue') parts.push(continuedNotice(takeUp.from, partial));
  return parts.join('\n\n');
}
