import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { thrownMessage } from '#contract/thrown';
import { CLAIM_LOST, readClaim, recordRefusedStart } from './claim.js';
import { forkHere, spawnedAs, type Fork, type Spawned } from './fork.js';
import { flawOf, planId, type RunPlan } from './run-plan.js';
import { SMALL_NODE } from './small-node.js';
import type { SupervisorKind } from './supervisor-kind.js';
import text from './supervisor.sh';

export type StartInput = {
  folder: string;
  plan: RunPlan;
  /** The CLI's whole environment: nothing else passes. The marks are ours to set. */
  env: Readonly<Record<string, string>>;
  supervisor: SupervisorKind;
  /** The CLI's; default: this process' own. */
  umask?: number;
  /** What starts the shell's supervisor; default: this process itself. */
  fork?: Fork;
};

/**
 * `running`, `exited`: what this supervisor wrote so far. `lost`: another claim stood there, nothing was started by
 * this call. `dead`: it left without a word. `late`: nothing seen within the bound; it may still come, so tend the
 * folder as any other.
 */
export type Started = { came: 'running' | 'exited' | 'lost' | 'dead' | 'late'; pid: number | null };

const POLL_MS = 5;

/**
 * Starts the supervisor of a made run folder and waits, bounded, for what it writes there. Never throws for a start
 * that fails.
 */
export async function startSupervisor(input: StartInput, boundMs = 3_000): Promise<Started> {
  const spawned = await spawnSupervisor(input);
  if (!spawned.ok)
    return {
      came: (await recordRefusedStart(input.folder, spawned.why)) === 'recorded' ? 'exited' : 'lost',
      pid: null,
    };
  const { pid } = spawned;
  let left: number | null | undefined;
  const leaving = spawned.exited.then((code) => (left = code));
  const until = performance.now() + boundMs;
  for (;;) {
    const hasLeft = left !== undefined;
    const came = seenIn(input.folder);
    if (left === CLAIM_LOST) return { came: 'lost', pid };
    if (came) return { came: (await readClaim(input.folder))?.by?.pid === pid ? came : 'lost', pid };
    if (hasLeft) return { came: 'dead', pid };
    if (performance.now() > until) return { came: 'late', pid };
    await Promise.race([delay(POLL_MS), leaving]);
  }
}

function seenIn(folder: string): 'running' | 'exited' | null {
  if (existsSync(join(folder, 'exit.json'))) return 'exited';
  return existsSync(join(folder, 'run.json')) ? 'running' : null;
}

/** `exited` gives the supervisor's own exit code; the CLI's is in exit.json. */
export async function spawnSupervisor(input: StartInput): Promise<Spawned> {
  const flaw = flawOf(input.plan);
  if (flaw !== null) throw new RangeError(flaw);
  return input.supervisor.kind === 'sh' ? forkShell(input, input.supervisor) : spawnNode(input, input.supervisor);
}

function forkShell(
  input: StartInput,
  { shell, tools, launcher }: Extract<SupervisorKind, { kind: 'sh' }>,
): Promise<Spawned> {
  const { plan, fork = forkHere } = input;
  const words = [...sharedWords(input), tools, plan.cwd, plan.argv[0] ?? '', ...launcher, ...plan.argv];
  return fork({ file: shell, args: ['-c', text, 'cmo-supervisor', ...words], env: supervisorEnv(input, input.env) });
}

/** The CLI's environment goes to a Node supervisor by a pipe: as its own it could change how Node itself runs. */
async function spawnNode(
  input: StartInput,
  { node, script }: Extract<SupervisorKind, { kind: 'node' }>,
): Promise<Spawned> {
  const words = [...sharedWords(input), input.plan.cwd, ...input.plan.argv];
  try {
    const child = spawn(node, [...SMALL_NODE, script, ...words], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: supervisorEnv(input, {}),
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(JSON.stringify(input.env));
    return await spawnedAs(child);
  } catch (error) {
    return { ok: false, why: thrownMessage(error) };
  }
}

function sharedWords({ folder, plan, umask = process.umask() }: StartInput): string[] {
  return [
    folder,
    planId(plan),
    (plan.deadlineMs / 1000).toFixed(3),
    String(Math.ceil(plan.graceMs / 100)),
    umask.toString(8).padStart(3, '0'),
  ];
}

/**
 * A daemon that was started from inside an agent must not hand that agent's mark on: its supervisors would be swept
 * with it.
 */
function supervisorEnv({ plan }: StartInput, env: Readonly<Record<string, string>>): Record<string, string> {
  const { CMO_ATTEMPT: _, ...rest } = env;
  return { ...rest, CMO_SUP: planId(plan) };
}
