import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunReading } from '#contract';
import type { RunPlan, RunStatus } from '#runner';
import {
  adapterFor,
  answerCheck,
  anyJson,
  sessionFacts,
  sessionsOf,
  type AnswerCheck,
  type ExitFacts,
  type RunReader,
} from '#vendors';
import type { RunEnd } from './attempt-lines.js';
import type { EndReason } from './watch.js';

type Ended = Extract<RunStatus, { state: 'exited' }> | { state: 'dead'; startedAt: number };

/**
 * Gathers what is left of a run and lets the vendor's reader say what it came to. Our own reasons outrank its words.
 */
export async function readRunEnd(input: {
  plan: RunPlan;
  folder: string;
  reader: RunReader;
  ended: Ended;
  reason: EndReason | null;
  schema: string | null;
  environment: Record<string, string>;
  clock: () => number;
}): Promise<RunEnd> {
  const { plan, folder, reader, ended, reason, schema, environment, clock } = input;
  const exit = ended.state === 'exited' ? ended.exit : null;
  const { session, cliVersion } = reader.progress();
  const written =
    plan.kind === 'codex' && session !== null
      ? await sessionFacts(sessionsOf(environment), session, ended.startedAt)
      : null;
  const facts: ExitFacts = {
    exitCode: exit?.code ?? null,
    signal: exit?.signal ?? null,
    timedOut: (exit?.timedOut ?? false) || reason === 'deadline',
    silent: reason === 'silence',
    flooded: reason === 'overflow',
    endedByUs: reason === 'refused' || reason === 'foreign-billing',
    endedForBilling: reason === 'foreign-billing',
    spawnError: exit?.spawnError ?? null,
    cwdExists: existsSync(plan.cwd),
    now: clock(),
    hostTimeZone: 'UTC',
    lastMessage: await readIfThere(join(folder, 'last-message')),
    sessionError: written?.error ?? null,
    check: schema === null ? null : await checkOf(schema),
  };
  const reading: RunReading = reader.finish(facts);
  const known = reading.session ?? plan.session;
  const resumable = known !== null && (await adapterFor(plan.kind).hasSession(environment, known)) ? known : null;
  return {
    reading,
    interrupted: exit === null && !reading.ok && reason !== 'cancel' && reason !== 'deadline',
    cancelled: reason === 'cancel' && !reading.ok,
    exitCode: facts.exitCode,
    signal: facts.signal,
    startedAt: ended.startedAt,
    endedAt: exit?.endedAt ?? clock(),
    resumable,
    cliVersion: cliVersion ?? written?.cliVersion ?? null,
    notes: reason === null || reason === 'cancel' ? [] : [`ended-by-us:${reason}`],
  };
}

/** The schema was checked at submit; what no longer compiles is answered by any JSON rather than by losing the work. */
async function checkOf(schema: string): Promise<AnswerCheck> {
  const compiled = await answerCheck(JSON.parse(schema));
  return compiled.ok ? compiled.check : anyJson;
}

async function readIfThere(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}
