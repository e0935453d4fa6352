import { DISPATCH_ID, parseAttemptId, type DispatchRequest } from '#contract';
import * as z from 'zod/mini';
import { BOUNDS } from './bounds.js';
import { unknownKey, wrong, wrongSecret, type Problem } from './problems.js';

type Field = {
  schema: z.ZodMiniType;
  allowed: string;
  /** Its value may hold what nobody but the agent should read: never quoted in an answer or a log. */
  secret?: true;
};

/** No control characters (they would forge lines in listings and logs), no blank ends, not empty. */
const WORD = /^(?!\s)[^\p{C}]+(?<!\s)$/u;
const word: Field = { schema: z.string().check(z.maxLength(BOUNDS.word), z.regex(WORD)), allowed: `a word of at most ${BOUNDS.word} characters` };
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NO_NUL = /^[^\0]*$/;

/** What it may be is the policy's to say (checkRequest); null is not a way to leave it out. */
const policys: Field = { schema: z.unknown().check(z.refine((value) => value !== null)), allowed: 'a value, or no such key' };

/** Every key of a DispatchRequest; what is not here is refused. */
const FIELDS: Record<keyof DispatchRequest, Field> = {
  id: { schema: z.string().check(z.regex(DISPATCH_ID)), allowed: 'd- and a ULID' },
  prompt: { schema: z.string().check(z.maxLength(BOUNDS.promptClaude)), allowed: `a text of at most ${BOUNDS.promptClaude} characters`, secret: true },
  cwd: { schema: z.string().check(z.minLength(1), z.maxLength(BOUNDS.path), z.regex(NO_NUL)), allowed: 'an absolute path' },
  env: {
    schema: z.record(z.string().check(z.regex(ENV_NAME), z.maxLength(BOUNDS.word)), z.string().check(z.maxLength(BOUNDS.envValue), z.regex(NO_NUL))),
    allowed: 'names of variables with texts that a process can have',
    secret: true,
  },
  schema: { schema: z.unknown(), allowed: 'a JSON Schema', secret: true },
  batch: word,
  labels: { schema: z.record(z.string().check(z.regex(WORD), z.maxLength(BOUNDS.word)), z.string().check(z.maxLength(BOUNDS.word))), allowed: 'short words with short texts' },
  parent: { schema: z.string().check(z.refine((id) => parseAttemptId(id as string) !== undefined)), allowed: 'the id of an attempt' },
  maxWaitMs: { schema: z.unknown(), allowed: '' },
  role: policys,
  complexity: policys,
  length: policys,
  contextTokens: policys,
  write: policys,
  readOnly: policys,
  independentOf: policys,
  strictIndependence: policys,
  pin: policys,
  model: policys,
  timeoutMs: policys,
  attempts: policys,
  failover: policys,
  fullAccess: policys,
  retryWrites: policys,
  class: policys,
};

const REQUIRED: readonly string[] = ['id', 'prompt', 'cwd', 'env'];
const KEYS = Object.keys(FIELDS);

const requestSchema = z.strictObject(
  Object.fromEntries(Object.entries(FIELDS).map(([key, field]) => [key, REQUIRED.includes(key) ? field.schema : z.exactOptional(field.schema)])),
);

/**
 * One request, held to its form. The result's words and numbers are not yet known to be right: the policy says so
 * (checkRequest), which is why this is not called a parse.
 * @param path which of a batch it is; empty for a single one
 */
export function shapeProblems(input: unknown, path: string): Problem[] {
  const parsed = requestSchema.safeParse(input);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(issue, input, path));
}

function problemsOf(issue: z.core.$ZodIssue, input: unknown, path: string): Problem[] {
  const [key, inner] = issue.path;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => unknownKey(path, name, KEYS));
  if (typeof key !== 'string' || !Object.hasOwn(FIELDS, key)) return [wrong('', path === '' ? 'the dispatch' : path, input, `an object with ${REQUIRED.join(', ')}`)];
  const field = FIELDS[key as keyof DispatchRequest];
  const seen = (input as Record<string, unknown>)[key];
  if (key === 'env' && typeof inner === 'string') return [wrong(path, `env, variable ${JSON.stringify(inner.slice(0, 60))}`, undefined, field.allowed)];
  return [field.secret ? wrongSecret(path, key, seen, field.allowed) : wrong(path, key, seen, field.allowed)];
}
