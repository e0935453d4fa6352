import type { Decision, LaneFacts, LanesFacts, PolicyConfig, Task, Tier } from '#contract';
import { decide, policyConfigOf } from '#policy';

export function configOf(input: unknown = {}): PolicyConfig {
  const reading = policyConfigOf(input);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.config;
}

export const TWO = configOf();

const models = (name: string): Record<Tier, { model: string; effort: string }> => ({
  fast: { model: `${name}-fast`, effort: 'low' },
  balanced: { model: `${name}-balanced`, effort: 'medium' },
  frontier: { model: `${name}-frontier`, effort: 'high' },
});

/** codex, claude, a second account at anthropic, and a third vendor. */
export const FOUR: PolicyConfig = {
  ...TWO,
  lanes: [
    ...TWO.lanes,
    { id: 'claude-b', vendor: 'anthropic', models: models('b') },
    { id: 'other', vendor: 'thirdlab', models: models('third') },
  ],
};

export function at(percent: number, more: Partial<LaneFacts> = {}): LaneFacts {
  return { available: true, worstPercent: percent, ...more };
}

export const dark: LaneFacts = { available: false };
export const gone: LaneFacts = { available: false, installed: false };

export function chosen(task: Task, facts: LanesFacts, config: PolicyConfig): Extract<Decision, { ok: true }> {
  const decision = decide(task, facts, config);
  if (!decision.ok) throw new Error(`deferred: ${decision.reasonCode}`);
  return decision;
}

export function deferred(task: Task, facts: LanesFacts, config: PolicyConfig): Extract<Decision, { ok: false }> {
  const decision = decide(task, facts, config);
  if (decision.ok) throw new Error(`went to ${decision.lane}`);
  return decision;
}
