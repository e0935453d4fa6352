import { errorBody, type ErrorBody, type ErrorCode } from '#contract';
import { shown, unknownWord, wrongValue, type Problem as PolicyProblem } from '#policy';

/** One thing that is refused, as a line for a person. */
export type Problem = { code: ErrorCode; line: string };

/** A refusal of the policy, with its place in the request (`dispatches[3]`, or empty for a single one). */
export function fromPolicy({ code, field, seen, allowed, nearest }: PolicyProblem, path: string): Problem {
  const at = path === '' ? field : `${path}.${field}`;
  if (code === 'CMO_E_EMPTY_TASK')
    return { code, line: path === '' ? 'the task is empty' : `${at}: the task is empty` };
  return {
    code,
    line: `${at}: saw ${seen}; allowed: ${allowed}${nearest === null ? '' : `; nearest: ${nearest}`}`,
  };
}

export function wrong(path: string, field: string, seen: unknown, allowed: string): Problem {
  return fromPolicy(wrongValue(field, seen, allowed), path);
}

/** Without its value: it may be a prompt, or of somebody's environment. */
export function wrongSecret(path: string, field: string, seen: unknown, allowed: string): Problem {
  const at = path === '' ? field : `${path}.${field}`;
  return { code: 'CMO_E_UNKNOWN_VALUE', line: `${at}: saw ${kindOf(seen)}; allowed: ${allowed}` };
}

function kindOf(seen: unknown): string {
  if (seen === undefined) return 'nothing';
  if (typeof seen === 'string') return `a text of ${seen.length} characters`;
  // Of a list or an object `shown` names the kind alone; anything else it would spell out.
  return typeof seen === 'object' ? shown(seen) : shown(null);
}

export function wrongWord(path: string, field: string, seen: unknown, allowed: readonly string[]): Problem {
  return fromPolicy(unknownWord(field, seen, allowed), path);
}

export function unknownKey(path: string, key: string, allowed: readonly string[]): Problem {
  return fromPolicy({ ...unknownWord('', key, allowed), field: 'unknown key' }, path);
}

/** All of them at once: fixing the first must not reveal the second on the next try. */
export function refusal(problems: readonly Problem[]): ErrorBody {
  const [first] = problems;
  if (!first) return errorBody('CMO_E_BUG', 'a refusal without a reason');
  if (problems.length === 1) return errorBody(first.code, first.line);
  const lines = problems.slice(0, 50).map((problem) => problem.line);
  if (problems.length > lines.length) lines.push(`and ${problems.length - lines.length} more`);
  return errorBody(first.code, `${problems.length} values are refused`, { details: lines });
}
