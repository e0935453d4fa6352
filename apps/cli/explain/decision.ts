import { nearest, type Decision, type Task } from '#contract';
import { decide } from '#policy/decide';
import { policyConfigOf } from '#policy/policy-config';
import type { Problem } from '#policy/problem';
import { readFacts } from '#policy/read-facts';
import { readTask } from '#policy/read-task';

const TASK_MEMBERS = Object.keys({
  role: 0, complexity: 0, length: 0, contextTokens: 0, needsSchema: 0, needsRepoWrite: 0, independentOf: 0, strictIndependence: 0, pin: 0, pinModel: 0, pinModelLane: 0, modelsOut: 0, lanesOut: 0,
} satisfies Record<keyof Task, 0>);
const MEMBERS: readonly string[] = ['task', 'limits', 'config'];

/** `{task, limits, config?}` → the decision on it, made of nothing else. */
export function explainDecision(input: unknown): Decision | { error: string } {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { error: 'an input is an object with task, limits and perhaps config' };
  const unknown = Object.keys(input).find((key) => !MEMBERS.includes(key));
  if (unknown !== undefined) return { error: `unknown member ${JSON.stringify(unknown)}: an input has ${MEMBERS.join(', ')}` };
  const { task = {}, limits, config } = input as Record<string, unknown>;
  const read = policyConfigOf(config);
  if (!read.ok) return { error: told(read.problems) };
  const facts = readFacts(limits);
  if (!facts.ok) return { error: told(facts.problems) };
  const odd = typeof task === 'object' && task !== null ? Object.keys(task).find((key) => !TASK_MEMBERS.includes(key)) : undefined;
  if (odd !== undefined) return { error: `unknown member task.${odd}; nearest: ${nearest(odd, TASK_MEMBERS) ?? 'none'}` };
  const asked = readTask(task, read.config);
  if (!asked.ok) return { error: told(asked.problems) };
  return decide(asked.task, facts.facts, read.config);
}

function told(problems: readonly Problem[]): string {
  return problems.map(({ field, seen, allowed, nearest }) => `${field}: saw ${seen}; allowed: ${allowed}${nearest === null ? '' : `; nearest: ${nearest}`}`).join('; ');
}
