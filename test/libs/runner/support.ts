import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach } from 'vitest';
import {
  attemptMark,
  endMarked,
  makeRun,
  nodeSupervisor,
  planId,
  readStatus,
  runFiles,
  shellSupervisor,
  startSupervisor,
  supervisorMark,
  type ExitRecord,
  type RunPlan,
  type RunningFacts,
  type Started,
  type SupervisorKind,
} from '#runner';
import { dispatchId } from '#contract';
import { randomBytes } from 'node:crypto';
import { onLeave } from '../../support/on-leave.js';
import { processesWith, signal } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

export const BIN = new URL('../../fixtures/bin/', import.meta.url).pathname;

export const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', LC_ALL: 'C.UTF-8' };

export const tempRuns = (): string => join(tempFolder('runs'), 'runs');

export function newPlan(argv: string[], changes: Partial<RunPlan> = {}): RunPlan {
  return {
    schema: 1,
    dispatch: dispatchId(Date.now(), randomBytes(16)),
    attempt: 1,
    node: 'test-node',
    lane: 'codex',
    account: 'codex',
    vendor: 'openai',
    kind: 'codex',
    model: 'some-model',
    effort: 'low',
    tier: 'fast',
    access: 'read',
    project: 'test',
    batch: null,
    argv,
    cwd: '/',
    deadlineMs: 60_000,
    graceMs: 1_000,
    silenceMs: 60_000,
    envNames: Object.keys(ENV),
    session: null,
    resumed: false,
    cliVersion: null,
    endpoint: null,
    ...changes,
  };
}

/** The supervisors that must behave the same. dash is /bin/sh on Debian, bash elsewhere. */
export const KINDS = ['shell', 'bash', 'node'] as const;

let bundled: Promise<string> | undefined;

export async function supervisorOf(kind: (typeof KINDS)[number]): Promise<SupervisorKind> {
  if (kind === 'node') {
    return nodeSupervisor(await nodeProgram(), 'a test asked for it');
  }
  const sh = shellSupervisor();
  if (typeof sh === 'string') throw new Error(sh);
  return kind === 'shell' ? sh : { ...sh, shell: bashAsSh() };
}

/** As dist/supervisor.mjs is made. */
export function nodeProgram(): Promise<string> {
  return (bundled ??= bundle());
}

async function bundle(): Promise<string> {
  const outfile = join(tempFolder('supervisor'), 'supervisor.mjs');
  const entry = new URL('../../../libs/runner/node-supervisor.ts', import.meta.url).pathname;
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['cmo-source'],
    loader: { '.sh': 'text' },
    logLevel: 'warning',
  });
  return outfile;
}

function bashAsSh(): string {
  const sh = join(tempFolder('bash'), 'sh');
  symlinkSync(['/usr/bin/bash', '/bin/bash'].find(existsSync) ?? '/bin/sh', sh);
  return sh;
}

const begun = new Set<string>();

/** For every id that a test starts something under: whatever it leaves behind is ended, and it fails nobody else. */
export function cleanAfterwards(id: string): void {
  begun.add(id);
}

afterEach(async () => {
  for (const id of begun) await endMarked({ marks: [attemptMark(id), supervisorMark(id)] }, { graceMs: 0 });
  begun.clear();
});

onLeave(() => {
  for (const id of begun)
    for (const name of ['CMO_ATTEMPT', 'CMO_SUP'])
      for (const { pid } of processesWith(id, name)) signal(pid, 'SIGKILL');
});

export type TestRun = { id: string; runs: string; folder: string; plan: RunPlan; prompt: string };

export async function newRun(argv: string[], changes: Partial<RunPlan> = {}, prompt = 'the prompt'): Promise<TestRun> {
  const runs = tempRuns();
  const plan = newPlan(argv, changes);
  const { folder } = await makeRun(runs, { plan, prompt });
  cleanAfterwards(planId(plan));
  return { id: planId(plan), runs, folder, plan, prompt };
}

export function start(
  run: TestRun,
  supervisor: SupervisorKind,
  env: Record<string, string> = ENV,
  umask = 0o022,
): Promise<Started> {
  return startSupervisor({ folder: run.folder, plan: run.plan, env, supervisor, umask }, 20_000);
}

export async function exitOf(run: TestRun): Promise<{ exit: ExitRecord; run: RunningFacts | null }> {
  return waitUntil(
    async () => {
      const status = await readStatus(run.folder);
      return status.state === 'exited' ? status : null;
    },
    { what: 'exit.json' },
  );
}

export async function runningOf(run: TestRun): Promise<RunningFacts> {
  return waitUntil(
    async () => {
      const status = await readStatus(run.folder);
      return status.state === 'running' ? status : null;
    },
    { what: 'run.json' },
  );
}

export const outOf = (run: TestRun): string => readFileSync(runFiles(run.folder).out, 'utf8');

/** Waits until the CLI has written something, so that it is known to be up. */
export async function firstOutput(run: TestRun): Promise<string> {
  await waitUntil(() => existsSync(runFiles(run.folder).out), { what: 'the output file' });
  return waitUntil(() => outOf(run), { what: 'output' });
}

/** Living processes of an attempt, in whatever session: its CLI's, and its supervisor's. */
export const livingOf = (id: string): number[] =>
  [...processesWith(id), ...processesWith(id, 'CMO_SUP')].map(({ pid }) => pid);
