import { nearest, nearestText, type Decision, type Task } from '#contract';
import { explainDecision as explain } from '#policy/explain';

const TASK_MEMBERS = Object.keys({
  role: 0,
  complexity: 0,
  length: 0,
  contextTokens: 0,
  needsSchema: 0,
  needsRepoWrite: 0,
  independentOf: 0,
  strictIndependence: 0,
  pin: 0,
  pinModel: 0,
  pinModelLane: 0,
  modelsOut: 0,
  lanesOut: 0,
  schemaRefusedBy: 0,
} satisfies Record<keyof Task, 0>);
const MEMBERS: readonly string[] = ['task', 'limits', 'config'];

/**
 * `{task, limits, config?}` → the decision on it, made of nothing else.
 * A member that is misspelt would change nothing, so it is refused.
 */
export function explainDecision(input: unknown): Decision | { error: string } {
  const odd = oddMember(input, MEMBERS) ?? oddMember((input as { task?: unknown } | null)?.task, TASK_MEMBERS, 'task.');
  if (odd !== null) return { error: odd };
  const explained = explain(input);
  if (explained.ok) return explained.decision;
  return {
    error: explained.problems
      .map(
        ({ field, seen, allowed, nearest: near }) => `${field}: saw ${seen}; allowed: ${allowed}${nearestText(near)}`,
      )
      .join('; '),
  };
}

function oddMember(value: unknown, allowed: readonly string[], at = ''): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const odd = Object.keys(value).find((key) => !allowed.includes(key));
  return odd === undefined
    ? null
    : `unknown member ${at}${odd}; nearest: ${nearest(odd, allowed) ?? 'none'}; allowed: ${allowed.join(', ')}`;
}
