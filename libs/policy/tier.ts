import type { DecisionFactors, Tier } from '#contract';

/** Before any correction; compared after rounding. */
export function tierOf(weight: number): Tier {
  if (weight < 0.3) return 'fast';
  return weight < 0.62 ? 'balanced' : 'frontier';
}

export type Corrected = { tier: Tier; notes: string[] };

/** Corrections 1–4: those that need no lane, in their order, each seeing what the one before left. */
export function correctTier(tier: Tier, factors: DecisionFactors): Corrected {
  const notes: string[] = [];
  const to = (next: Tier, note: string): void => {
    tier = next;
    notes.push(note);
  };
  const { role, complexity, length, contextTokens, needsSchema, needsRepoWrite } = factors;
  if (contextTokens >= 120_000 && complexity <= 3 && tier === 'frontier') to('balanced', 'bulk-context-downgrade');
  if (needsSchema && length === 'xs' && tier === 'frontier' && role !== 'judge') to('balanced', 'schema-xs-downgrade');
  if ((role === 'judge' || role === 'review') && tier === 'fast') to('balanced', 'judge-review-floor');
  if (needsRepoWrite && tier === 'fast' && complexity >= 3) to('balanced', 'repo-write-floor');
  return { tier, notes };
}

/** What corrections 3 and 4 protect: a substitute model may not go below it either. */
export function floorOf({ role, complexity, needsRepoWrite }: DecisionFactors): Tier {
  return role === 'judge' || role === 'review' || (needsRepoWrite && complexity >= 3) ? 'balanced' : 'fast';
}

export function tierAbove(tier: Tier): Tier {
  return tier === 'fast' ? 'balanced' : 'frontier';
}
