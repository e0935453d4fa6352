import type { DispatchRequest } from '#contract';
import { BOUNDS } from '#contract/bounds';
import { requestSchema } from '#contract/schemas/request';
import { unknownKey, wrong, wrongSecret, type Problem } from './problems.js';

/** What a refusal says of a field. `secret`: the value may hold what only the agent should read, so it isn't shown. */
type Telling = { allowed: string; secret?: true };

/**
 * The fields whose form is described here. The task's words and numbers (and `class`) are checked by the policy
 * (checkRequest), which can name the nearest allowed word.
 */
const TOLD: Partial<Record<keyof DispatchRequest, Telling>> = {
  id: { allowed: 'd- and a ULID' },
  prompt: { allowed: `a text of at most ${BOUNDS.promptClaude} characters`, secret: true },
  cwd: { allowed: 'an absolute path' },
  env: { allowed: 'names of variables with texts that a process can have', secret: true },
  schema: { allowed: 'a JSON Schema', secret: true },
  reviewOf: { allowed: 'the id of a dispatch' },
  once: { allowed: `a word of at most ${BOUNDS.once} characters` },
  batch: { allowed: 'a name of at most 64 letters, digits, . _ and -' },
  labels: { allowed: 'short words with short texts' },
  parent: { allowed: 'the id of an attempt' },
};
const KEYS = Object.keys(requestSchema.shape);
const REQUIRED = 'id, prompt, cwd, env';

type Issue = { code?: string; path: PropertyKey[]; keys?: string[] };

/**
 * One request, held to its form. The result's words and numbers are not yet known to be right: the policy says so
 * (checkRequest), which is why this is not called a parse. `fits` is the schema's own word on the whole.
 * @param path which of a batch it is; empty for a single one
 */
export function readShape(input: unknown, path: string): { fits: boolean; problems: Problem[] } {
  const parsed = requestSchema.safeParse(input);
  return parsed.success
    ? { fits: true, problems: [] }
    : { fits: false, problems: parsed.error.issues.flatMap((issue) => problemsOf(issue as Issue, input, path)) };
}

/** The policy's fields are left to it, but for null, which it takes for absent. */
function problemsOf({ code, path: [key, inner], keys }: Issue, input: unknown, path: string): Problem[] {
  if (code === 'unrecognized_keys' && key === undefined)
    return (keys ?? []).map((name) => unknownKey(path, name, KEYS));
  if (typeof key !== 'string' || !Object.hasOwn(requestSchema.shape, key))
    return [wrong('', path === '' ? 'the dispatch' : path, input, `an object with ${REQUIRED}`)];
  const seen = (input as Record<string, unknown>)[key];
  const telling = TOLD[key as keyof DispatchRequest];
  if (telling === undefined) return seen === null ? [wrong(path, key, seen, 'a value, or no such key')] : [];
  if (key === 'env' && typeof inner === 'string')
    return [wrong(path, `env, variable ${JSON.stringify(inner.slice(0, 60))}`, undefined, telling.allowed)];
  return [telling.secret ? wrongSecret(path, key, seen, telling.allowed) : wrong(path, key, seen, telling.allowed)];
}
