import type { FailureClass, PastFailure, StepFacts } from '#contract';

type Budgeted = 'transient' | 'overloaded' | 'timeout' | 'silence' | 'killed' | 'schema';

/** Retries after the first failure, per dispatch, lane and class (rulings §7). The other classes spend none. */
const RETRIES: Record<Budgeted, number> = {
  transient: 2,
  overloaded: 2,
  timeout: 1,
  silence: 1,
  killed: 1,
  schema: 1,
};

/**
 * Poison stop: after this many attempts that were killed from outside or went silent, the dispatch itself is taken for
 * the cause. Counted over all lanes and over these outcomes together, since such a dispatch shows a different one each
 * time.
 */
export const VIOLENT_ENDS = 3;
const VIOLENT: readonly PastFailure['class'][] = ['killed', 'silence', 'interrupted', 'lost'];

const BUDGETED = Object.keys(RETRIES) as Budgeted[];
const FREE: readonly string[] = ['rate_limit', 'usage_limit'] satisfies FailureClass[];

export function countOf(history: readonly PastFailure[], match: { lane?: string; class?: string }): number {
  return history.filter((past) => (match.lane ?? past.lane) === past.lane && (match.class ?? past.class) === past.class)
    .length;
}

/** Past attempts on a lane that count against `--attempts`: a limit spends none. */
function spentOn(history: readonly PastFailure[], lane: string): number {
  return history.filter((past) => past.lane === lane && !FREE.includes(past.class)).length;
}

/** May this lane run it again, now that it failed here with this class once more than history says? */
export function retryLeft(
  cls: Budgeted,
  history: readonly PastFailure[],
  facts: Pick<StepFacts, 'lane' | 'attempts'>,
): boolean {
  if (facts.attempts !== null) return spentOn(history, facts.lane) + 1 < facts.attempts;
  return countOf(history, { lane: facts.lane, class: cls }) < RETRIES[cls];
}

/**
 * Another lane still has budget: it has not itself used one up in this dispatch, or two lanes would hand it to and fro.
 */
export function laneLeft(lane: string, history: readonly PastFailure[], attempts: number | null): boolean {
  if (attempts !== null) return spentOn(history, lane) < attempts;
  return BUDGETED.every((cls) => countOf(history, { lane, class: cls }) <= RETRIES[cls]);
}

/**
 * With the attempt that has just ended that way it is one of VIOLENT_ENDS. `--attempts` replaces this bound as it does
 * all others.
 */
export function isPoison(history: readonly PastFailure[], facts: Pick<StepFacts, 'attempts'>): boolean {
  return facts.attempts === null && history.filter((past) => VIOLENT.includes(past.class)).length + 1 >= VIOLENT_ENDS;
}

/** An interruption is our fault, not the agent's: only `--attempts` bounds it besides the poison stop. */
export function interruptionLeft(
  history: readonly PastFailure[],
  facts: Pick<StepFacts, 'lane' | 'attempts'>,
): boolean {
  return facts.attempts === null || spentOn(history, facts.lane) + 1 < facts.attempts;
}

/**
 * Delay before retry n (0 = the first), ms: min(60 s, 2 s·2^n), lengthened by up to a quarter so that agents that
 * failed together don't return together.
 *
 * @param random 0..1
 */
export function backOffMs(n: number, random: number): number {
  return Math.round(Math.min(60_000, 2_000 * 2 ** n) * (1 + 0.25 * random));
}
