import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { ACCESSES, attemptId, parseAttemptId } from '#contract';

/**
 * What the worker knows when it starts an attempt: all that a successor needs to tend the run, and all that its receipt
 * says of it if the record is gone. Of the environment only names: values stay in the process.
 */
const schema = z.object({
  schema: z.literal(1),
  dispatch: z.string(),
  attempt: z.number(),
  node: z.string(),
  lane: z.string(),
  account: z.string(),
  vendor: z.string(),
  kind: z.enum(['codex', 'claude']),
  model: z.string(),
  effort: z.nullable(z.string()),
  tier: z.string(),
  access: z.enum(ACCESSES),
  project: z.string(),
  batch: z.nullable(z.string()),
  /** The CLI's absolute path and its arguments. */
  argv: z.array(z.string()),
  /** Absolute. */
  cwd: z.string(),
  /** Wall clock from the start of the CLI to TERM, ms. */
  deadlineMs: z.number(),
  /** TERM → KILL, ms. */
  graceMs: z.number(),
  /** No progress for this long ends the run, ms. */
  silenceMs: z.number(),
  envNames: z.array(z.string()),
  /** The vendor's session, where it is known before the start: ours to choose, or resumed. */
  session: z.nullable(z.string()),
  resumed: z.boolean(),
  /** How it takes up earlier work, as its receipt says it; null: it doesn't. */
  takesUp: z.optional(z.nullable(z.enum(['resumed', 'repair', 'continued', 're-run']))),
  /** Of a writer in a git tree, before it began. */
  before: z.optional(
    z.nullable(
      z.object({
        head: z.string(),
        files: z.number(),
        insertions: z.number(),
        deletions: z.number(),
        untracked: z.number(),
      }),
    ),
  ),
  exclusive: z.optional(z.boolean()),
  cliVersion: z.nullable(z.string()),
  /** `<host>` when the lane's configuration points the CLI elsewhere. */
  endpoint: z.nullable(z.string()),
});

export type RunPlan = z.infer<typeof schema>;

/** Timers of Node end there (24.8 days); the same bound for both supervisors. */
export const MAX_DEADLINE_MS = 2 ** 31 - 1;
const MAX_GRACE_MS = 600_000;

/** `<dispatch>.<attempt>`: the run folder's name, and the mark's value. */
export function planId(plan: Pick<RunPlan, 'dispatch' | 'attempt'>): string {
  return attemptId(plan.dispatch, plan.attempt);
}

/** Null: not a plan. */
export function parsePlan(text: string): RunPlan | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/**
 * @returns what is wrong with it; null when it can be run. Everything from outside was validated long before: this is a
 * bug's last stop.
 */
export function flawOf(plan: RunPlan): string | null {
  const [command] = plan.argv;
  if (!parseAttemptId(planId(plan))) return `no attempt id: ${planId(plan)}`;
  if (command === undefined || !isAbsolute(command)) return `the command must be an absolute path: ${command}`;
  if (!isAbsolute(plan.cwd)) return `cwd must be an absolute path: ${plan.cwd}`;
  if ([plan.cwd, ...plan.argv].some((word) => word.includes('\0'))) return 'a NUL in the command line';
  if (!isWhole(plan.deadlineMs, 1, MAX_DEADLINE_MS))
    return `deadlineMs must be a whole number from 1 to ${MAX_DEADLINE_MS}: ${plan.deadlineMs}`;
  if (!isWhole(plan.graceMs, 0, MAX_GRACE_MS))
    return `graceMs must be a whole number from 0 to ${MAX_GRACE_MS}: ${plan.graceMs}`;
  return null;
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}
