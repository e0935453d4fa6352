import type { PastAttempt, Usage } from '#contract';
import type { RunPlan } from '#runner';

/**
 * The tokens of this attempt alone. A resumed codex thread reports the sum of all its turns, those of earlier attempts
 * included (seen with 0.171); claude reports each run by itself.
 */
export function ownUsage(
  plan: Pick<RunPlan, 'kind' | 'resumed'>,
  session: string | null,
  usage: Usage,
  history: readonly PastAttempt[],
): Usage {
  if (usage === null || !plan.resumed || plan.kind !== 'codex') return usage;
  return history
    .filter((past) => past.session === session && past.usage !== null)
    .reduce(
      (rest, { usage: billed }) => ({
        inputTokens: Math.max(rest.inputTokens - (billed?.inputTokens ?? 0), 0),
        outputTokens: Math.max(rest.outputTokens - (billed?.outputTokens ?? 0), 0),
      }),
      usage,
    );
}
