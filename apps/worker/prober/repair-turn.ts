import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import type { LaneConfig } from '#contract';
import { findExecutable } from '#runner';
import { adapterFor, captureEnvironment, childEnvironment } from '#vendors';

/** What came of the smallest turn. `events`: the quota readings that came with it, raw. */
export type RepairTurn = { ran: true; ok: boolean; why: string; events: unknown[] } | { ran: false; why: string };

/** It refreshes in its first second; the rest is an overloaded vendor. */
const BOUND_MS = 90_000;
const GRACE_MS = 5_000;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The cheapest real turn of a lane's claude, so that the CLI renews its own login: its fast model, an empty folder, one
 * line of system prompt, no tools, skills, servers or session. In the environment of any agent of the lane.
 * @param environment of a dispatch that waits for it, else the daemon's
 * @param path of the login file
 */
export async function repairTurn(
  lane: LaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
  path: string,
  boundMs = BOUND_MS,
): Promise<RepairTurn> {
  const adapter = adapterFor('claude');
  if (basename(path) !== '.credentials.json')
    return { ran: false, why: `claude keeps no login in ${path}: name the one it does keep as claudeCredentials` };
  const env = childEnvironment({
    submitted: captureEnvironment({ ...environment }, { names: lane.passEnv, values: {} }).env,
    lane,
    adapterEnv: adapter.envFor({ access: 'read', root: process.getuid?.() === 0 }),
    mark: `repair-${lane.id}.1`,
  });
  // The login in that file, and no other: a token from a shell would be used in its place, and renew nothing.
  if (lane.env['CLAUDE_CODE_OAUTH_TOKEN'] === undefined) delete env['CLAUDE_CODE_OAUTH_TOKEN'];
  if (env['HOME'] !== undefined && join(env['HOME'], '.claude') === dirname(path)) delete env['CLAUDE_CONFIG_DIR'];
  else env['CLAUDE_CONFIG_DIR'] = dirname(path);
  const command = findExecutable(lane.command, env['PATH'] ?? '');
  if (command === null) return { ran: false, why: `${lane.command} is not on the daemon's PATH` };
  const folder = await mkdtemp(join(tmpdir(), 'cmo-repair-'));
  try {
    return await run(command, argvOf(lane), { env, cwd: folder, boundMs });
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function argvOf(lane: LaneConfig): string[] {
  const quiet = ['--disable-slash-commands', '--no-session-persistence', '--tools', '', '--strict-mcp-config'];
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--model',
    lane.models.fast.model,
    '--system-prompt',
    'Answer with the one word ok.',
    ...quiet,
  ];
}

async function run(
  command: string,
  argv: string[],
  { env, cwd, boundMs }: { env: Record<string, string>; cwd: string; boundMs: number },
): Promise<RepairTurn> {
  // Detached and killed as a group only when it is late: a kill in the middle of a refresh would lose the new token.
  const child = execa(command, argv, {
    env,
    extendEnv: false,
    cwd,
    input: 'ok',
    reject: false,
    detached: true,
    cleanup: false,
    maxBuffer: MOST_BYTES,
    encoding: 'buffer',
  });
  const end = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has left.
    }
  };
  let late = false;
  const timers = [
    setTimeout(() => {
      late = true;
      end('SIGTERM');
    }, boundMs),
    setTimeout(() => end('SIGKILL'), boundMs + GRACE_MS),
  ];
  const answer = await child;
  timers.forEach(clearTimeout);
  if (answer.code !== undefined && answer.exitCode === undefined)
    return { ran: false, why: `${command} could not be started (${answer.code})` };
  const reader = adapterFor('claude').reader();
  const signals = reader.out(answer.stdout);
  reader.err(answer.stderr);
  const facts = {
    exitCode: answer.exitCode ?? null,
    signal: answer.signal ?? null,
    timedOut: late,
    silent: false,
    endedByUs: false,
    spawnError: null,
    cwdExists: true,
    now: 0,
    hostTimeZone: 'UTC',
    lastMessage: null,
    sessionError: null,
    check: null,
  };
  const reading = reader.finish(facts);
  const events = signals.flatMap((signal) => (signal.kind === 'rate-limit-event' ? [signal.info] : []));
  return {
    ran: true,
    ok: reading.ok,
    why: reading.ok ? '' : `${reading.failure.class}: ${reading.failure.words.slice(0, 200)}`,
    events,
  };
}
