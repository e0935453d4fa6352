import type { Decision, PolicyConfig } from '#contract';
import { decide } from './decide.js';
import { wrongValue, type Problem } from './problem.js';
import { readFacts } from './read-facts.js';
import { readTaskValues } from './read-task.js';

/** What was decided and what the same facts give now, member by member where they differ. */
export type Replay =
  { ok: true; same: boolean; decision: Decision; differences: Difference[] } | { ok: false; problems: Problem[] };
export type Difference = { member: string; then: unknown; now: unknown };

const COMPARED = [
  'ok',
  'lane',
  'vendor',
  'model',
  'effort',
  'tier',
  'weight',
  'independence',
  'degradedReview',
  'fallback',
  'reasonCode',
  'detail',
  'resumeAfter',
  'notes',
  'states',
] as const;

/** `rerouted:<lane>:<why>`: the move that led to this decision. */
export const MOVED_NOTE = 'rerouted:';

/**
 * Decides again from the facts that a decision carries. With the same configuration it comes out the same; a difference
 * is the configuration's (another lane, model or threshold since) or another version's.
 */
export function replay(then: unknown, config: PolicyConfig): Replay {
  if (typeof then !== 'object' || then === null || !('factors' in then) || !('facts' in then)) {
    return { ok: false, problems: [wrongValue('decision', then, 'a decision with its factors and facts')] };
  }
  const task = readTaskValues(then.factors, config);
  const facts = readFacts(then.facts);
  if (!task.ok || !facts.ok)
    return { ok: false, problems: [...(task.ok ? [] : task.problems), ...(facts.ok ? [] : facts.problems)] };
  const decision = decide(task.task, facts.facts, config);
  const [before, after] = [
    new Map<string, unknown>(Object.entries(then)),
    new Map<string, unknown>(Object.entries(decision)),
  ];
  const differences = COMPARED.flatMap((member): Difference[] => {
    const [was, is] = [decided(before.get(member)), decided(after.get(member))];
    return stable(was) === stable(is) ? [] : [{ member, then: was, now: is }];
  });
  return { ok: true, same: differences.length === 0, decision, differences };
}

/** Without the notes of where it came from: those tell its history, and no facts make them again. */
function decided(value: unknown): unknown {
  return Array.isArray(value)
    ? value.filter((one) => typeof one !== 'string' || !one.startsWith(MOVED_NOTE))
    : (value ?? null);
}

/** Independent of the order of keys: a file that was read and written again has its own. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
