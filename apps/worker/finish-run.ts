import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { attemptId, type DispatchRecord, type LanesFacts } from '#contract';
import {
  attemptMark,
  cutSpool,
  endMarked,
  isCancelAsked,
  runFiles,
  supervisorMark,
  type ProcessIdentity,
  type RunPlan,
  type RunStatus,
} from '#runner';
import type { RunReader } from '#vendors';
import { assertedRecord, runsHere } from './assert-run.js';
import { conclude, concludeOrphan } from './conclusion.js';
import { keepConclusion } from './conclusion-file.js';
import { installedLanes } from './confirm-lane.js';
import { deliver } from './deliver.js';
import { diffStat } from './diff-stat.js';
import { readEndedBy } from './ended-by.js';
import { lanesOut } from './left-lanes.js';
import { measureEnded, meterNotes } from './measure-run.js';
import { environmentHere, environmentOf, submittedEnvironment } from './environment.js';
import { laneById, type Resources } from './resources.js';
import type { RunRef } from './roster.js';
import { readRunEnd } from './run-end.js';
import { withoutSecrets } from './without-secrets.js';
import { besideNotes } from './work-places.js';

/** A 20 MB answer is 63 MB of claude's stream; past the cap the run is ended. */
export const OUT_CAP_BYTES = 512 * 1024 * 1024;
export const ERR_CAP_BYTES = 16 * 1024 * 1024;

export type Ended =
  Extract<RunStatus, { state: 'exited' }> | { state: 'dead'; startedAt: number; cli: ProcessIdentity | null };

/**
 * What is done when a run is over, in this order: whatever is left of its processes is ended, then it is read and
 * concluded, then told. All of it may be repeated by whoever takes the folder up after a crash.
 */
export async function finishRun(
  r: Resources,
  run: RunRef,
  { plan, reader, ended }: { plan: RunPlan; reader: RunReader; ended: Ended },
): Promise<void> {
  const { folder } = run;
  const id = attemptId(run.id, run.attempt);
  // Strays after a normal exit, and everything of a supervisor that died, before anything is said about the attempt.
  const marks = ended.state === 'dead' ? [attemptMark(id), supervisorMark(id)] : [attemptMark(id)];
  // A child that cleared its environment is still in the CLI's group or session.
  const leader = (ended.state === 'dead' ? ended.cli : ended.run?.cli) ?? undefined;
  // And one that left these too still writes where its parent wrote.
  const { out, err } = runFiles(await realpath(folder).catch(() => folder));
  const { left } = await endMarked({ marks, leader, writesTo: [out, err] }, { graceMs: plan.graceMs });
  if (left.length > 0) throw new Error(`processes of ${id} cannot be ended: ${left.join(', ')}`);
  // Whoever is told to end goes on writing for a while, gigabytes of it;
  // what is past the caps nobody reads, and it would lie there for weeks.
  await Promise.all([cutSpool(join(folder, 'out'), OUT_CAP_BYTES), cutSpool(join(folder, 'err'), ERR_CAP_BYTES)]);

  const record = await assertedRecord(r, { dispatch: run.id, attempt: run.attempt }, plan);
  const lane = laneById(r.config, plan.lane);
  if (!lane) throw new Error(`lane ${plan.lane} is no longer configured`);
  const reason = isCancelAsked(folder) ? ('cancel' as const) : await readEndedBy(folder);
  const schema = await r.records.blob(run.id, 'schema');
  const submitted = record === null ? await submittedEnvironment(r, run.id) : await environmentHere(r, record);
  const environment = environmentOf(r, submitted, lane, id, plan.access);
  const seen = await withoutSecrets(
    await readRunEnd({ plan, folder, reader, ended, reason, schema, environment, clock: r.clock }),
    environment,
    folder,
  );
  measureEnded(r, id, plan, seen);
  // Before it is concluded: what the vendor wrote of this run is the meter's newest word.
  if (plan.kind === 'codex') await r.meters.codexRun(lane, environment);
  const cliVersion = seen.cliVersion ?? (await versionOf(r, plan, ended, environment));
  const after = plan.before ? await diffStat(plan.cwd, environment['PATH'] ?? '', plan.before.head) : null;
  const end = {
    ...seen,
    cliVersion,
    after,
    cost: r.costs.costShown(lane, plan.tier),
    notes: [...seen.notes, ...besideNotes(r.places.beside(id)), ...(await meterNotes(r, plan, seen))],
  };
  const attempt = { plan, adopted: run.adopted, fenced: record !== null && !runsHere(record, run.attempt, r.node) };
  const conclusion = record
    ? conclude(r, { record, lane, attempt, end, facts: await factsFor(r, record), out: await lanesOut(r, record) })
    : concludeOrphan(attempt, end);
  await deliver(r, record, folder, plan.account, await keepConclusion(folder, conclusion));
}

/** Of a CLI that left without naming it: which one failed is what a person asks first. */
async function versionOf(
  r: Resources,
  plan: RunPlan,
  ended: Ended,
  environment: Record<string, string>,
): Promise<string | null> {
  const [cli] = plan.argv;
  return cli !== undefined && ended.state === 'exited' && ended.exit.spawnError === null
    ? r.versions.of(cli, environment)
    : null;
}

async function factsFor(r: Resources, record: DispatchRecord): Promise<LanesFacts> {
  const path = (await environmentHere(r, record))['PATH'] ?? '';
  return r.gate.facts(r.config.lanes, installedLanes(r, path));
}
