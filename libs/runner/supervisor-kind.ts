import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dispatchId } from '#contract';
import { findExecutable } from './find-executable.js';
import { hasProc } from './process-identity.js';
import { makeRun } from './run-folder.js';
import type { RunPlan } from './run-plan.js';
import { readStatus } from './run-status.js';
import { spawnSupervisor } from './start-supervisor.js';

/**
 * The shell supervisor needs /proc, `setpriv` (util-linux) and a few options of GNU tools: 2 MB and 10 ms. Where one is
 * missing the Node supervisor does the same with the same files, for 40 MB and without the death signal: when it is
 * killed its CLI lives on until somebody ends the marks.
 */
export type SupervisorKind =
  | { kind: 'sh'; shell: string; tools: string; launcher: readonly string[] }
  | { kind: 'node'; node: string; script: string; why: string };

export type ProbeInput = {
  /** The bundled Node supervisor (`dist/supervisor.mjs`). */
  script: string;
  /** Where the shell's tools are looked for. */
  tools?: string;
};

const TOOLS = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/** Finds out by a trial run which supervisor this box can do; tenths of a second, so ask once and keep the answer. */
export async function probeSupervisor({ script, tools = TOOLS }: ProbeInput): Promise<SupervisorKind> {
  const sh = shellSupervisor(tools);
  const why = typeof sh === 'string' ? sh : await trialFlaw(sh);
  return typeof sh === 'string' || why !== null ? nodeSupervisor(script, why ?? '') : sh;
}

export function nodeSupervisor(script: string, why: string): SupervisorKind {
  return { kind: 'node', node: process.execPath, script, why };
}

/** @returns what is missing, in words, when it can't be used here */
export function shellSupervisor(tools: string = TOOLS): Extract<SupervisorKind, { kind: 'sh' }> | string {
  if (!hasProc()) return 'there is no /proc';
  const found = (name: string): string => findExecutable(name, tools) ?? '';
  const names = ['sh', 'setpriv', 'env', 'setsid', 'ln', 'mv', 'rm', 'sync', 'sleep', 'grep'];
  const missing = names.filter((name) => found(name) === '');
  if (missing.length > 0) return `not found: ${missing.join(', ')}`;
  // A background command of a shell has SIGINT and SIGQUIT ignored, and so would all that an agent starts.
  const launcher = [
    found('setpriv'),
    '--pdeathsig',
    'TERM',
    found('env'),
    '--default-signal=INT,QUIT',
    found('setsid'),
  ];
  return { kind: 'sh', shell: found('sh'), tools, launcher };
}

/** Runs a program past its deadline: that takes every part but one. @returns null when all went as it should */
async function trialFlaw(sh: Extract<SupervisorKind, { kind: 'sh' }>): Promise<string | null> {
  const mark = 'CMO_ATTEMPT=d-trial.1';
  const grep = spawnSync(findExecutable('grep', sh.tools) ?? 'grep', ['-lszxF', mark, '/proc/self/environ'], {
    env: { CMO_ATTEMPT: 'd-trial.1' },
    timeout: 5_000,
  });
  if (grep.status !== 0) return 'grep does not know -z, or an environment cannot be read';
  const runs = await mkdtemp(join(tmpdir(), 'cmo-trial-'));
  try {
    const plan = trialPlan(findExecutable('sleep', sh.tools) ?? 'sleep');
    const { folder } = await makeRun(runs, { plan, prompt: '' });
    const spawned = await spawnSupervisor({ folder, plan, env: { PATH: sh.tools }, supervisor: sh });
    if (!spawned.ok) return spawned.why;
    await spawned.exited;
    const status = await readStatus(folder);
    if (status.state !== 'exited') return `a trial run ended as ${status.state}`;
    const { code, timedOut, spawnError } = status.exit;
    return timedOut && code === 143
      ? null
      : `a trial run ended with code ${code}${spawnError === null ? '' : `: ${spawnError}`}`;
  } finally {
    await rm(runs, { recursive: true, force: true });
  }
}

function trialPlan(sleep: string): RunPlan {
  const unknown = {
    lane: '',
    account: '',
    vendor: '',
    kind: 'codex',
    model: '',
    effort: null,
    tier: '',
    access: 'read',
    project: '',
    batch: null,
  } as const;
  const unused = { silenceMs: 1, envNames: [], session: null, resumed: false, cliVersion: null, endpoint: null };
  // An id of its own: the tree is ended by its mark, and two daemons that start at once must not end each other's
  // trial.
  const id = { schema: 1, dispatch: dispatchId(Date.now(), randomBytes(16)), attempt: 1, node: '' } as const;
  return { ...id, ...unknown, ...unused, argv: [sleep, '30'], cwd: '/', deadlineMs: 50, graceMs: 1_000 };
}
