import type { Decision } from '#contract';
import { decide } from './decide.js';
import { policyConfigOf } from './policy-config.js';
import { wrongValue, type Problem } from './problem.js';
import { readFacts } from './read-facts.js';
import { readTaskValues } from './read-task.js';

export type Explained = { ok: true; decision: Decision } | { ok: false; problems: Problem[] };

/**
 * One member of `explain decision`: `{task, limits, config?}` over the defaults, never over the person's own config or
 * meters. A request that contradicts itself is refused at submit; here it is decided all the same, because the question
 * is what would come of it.
 */
export function explainDecision(input: unknown): Explained {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { ok: false, problems: [wrongValue('input', input, 'an object with task and limits')] };
  const { task: rawTask, limits, config: rawConfig } = input as { task?: unknown; limits?: unknown; config?: unknown };
  const config = policyConfigOf(rawConfig);
  const facts = readFacts(limits);
  if (!config.ok) return { ok: false, problems: [...config.problems, ...(facts.ok ? [] : facts.problems)] };
  const task = readTaskValues(rawTask ?? {}, config.config);
  if (task.ok && facts.ok) return { ok: true, decision: decide(task.task, facts.facts, config.config) };
  return { ok: false, problems: [...(task.ok ? [] : task.problems), ...(facts.ok ? [] : facts.problems)] };
}
