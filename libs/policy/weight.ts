import type { DecisionFactors, Length, Role } from '#contract';

const LENGTH_SHARE: Record<Length, number> = { xs: 0.05, s: 0.25, m: 0.5, l: 0.8, xl: 1 };

const ROLE_SHARE: Record<Role, number> = {
  mechanical: 0.05,
  research: 0.25,
  implement: 0.55,
  review: 0.7,
  synthesis: 0.75,
  judge: 0.8,
  architecture: 0.95,
};

/**
 * How much model a task is worth, 0..1 in thousandths. toFixed of exactly this sum: Math.round(x * 1000) / 1000 differs
 * on 37 of the 175 grid rows.
 */
export function weightOf({
  role,
  complexity,
  length,
}: Pick<DecisionFactors, 'role' | 'complexity' | 'length'>): number {
  return Number((0.45 * ((complexity - 1) / 4) + 0.3 * LENGTH_SHARE[length] + 0.25 * ROLE_SHARE[role]).toFixed(3));
}
