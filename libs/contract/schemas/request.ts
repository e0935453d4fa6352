import * as z from 'zod/mini';
import { BOUNDS, NUMBERS } from '../bounds.js';
import { MOMENT_FORM } from '../moment.js';
import type { DispatchRequest } from '../request.js';
import {
  attemptId,
  batchName,
  dispatchClass,
  dispatchId,
  flag,
  length,
  maybe,
  orNull,
  role,
  within,
  word,
  type Same,
} from './words.js';

/** An ISO time with its zone, or a duration that begins now. */
const moment = z.string().check(z.maxLength(64), z.regex(MOMENT_FORM));

const NO_NUL = /^[^\0]*$/;
const variable = z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.maxLength(BOUNDS.word));

/** One dispatch as a front door sends it. A key that is not here is refused. */
export const requestSchema = z.strictObject({
  id: dispatchId,
  prompt: z.string().check(z.maxLength(BOUNDS.promptClaude)),
  cwd: z.string().check(z.maxLength(BOUNDS.path), z.regex(NO_NUL)),
  env: z.record(variable, z.string().check(z.maxLength(BOUNDS.envValue), z.regex(NO_NUL))),
  role: maybe(role),
  complexity: maybe(within(NUMBERS.complexity)),
  length: maybe(length),
  contextTokens: maybe(within(NUMBERS.contextTokens)),
  schema: maybe(z.unknown()),
  write: maybe(flag),
  readOnly: maybe(flag),
  independentOf: maybe(word),
  reviewOf: maybe(dispatchId),
  strictIndependence: maybe(flag),
  pin: maybe(word),
  model: maybe(word),
  timeoutMs: maybe(within(NUMBERS.timeoutMs)),
  attempts: maybe(within(NUMBERS.attempts)),
  failover: maybe(flag),
  fullAccess: maybe(flag),
  retryWrites: maybe(flag),
  exclusive: maybe(flag),
  class: maybe(dispatchClass),
  maxWaitMs: maybe(orNull(within(NUMBERS.maxWaitMs))),
  once: maybe(word.check(z.maxLength(BOUNDS.once))),
  notBefore: maybe(moment),
  ttlMs: maybe(within(NUMBERS.ttlMs)),
  deadline: maybe(moment),
  node: maybe(z.literal('any')),
  batch: maybe(batchName),
  labels: maybe(z.record(word, z.string().check(z.maxLength(BOUNDS.word)))),
  parent: maybe(attemptId),
});
export const requestIsRight: Same<z.infer<typeof requestSchema>, DispatchRequest> = true;

/**
 * The body of POST /v1/dispatches: all of them are recorded, or none. `once`: a key for the whole of it, as the header
 * Idempotency-Key.
 */
export const submitSchema = z.strictObject({
  once: maybe(word.check(z.maxLength(BOUNDS.once))),
  dispatches: z.array(requestSchema).check(z.minLength(1), z.maxLength(BOUNDS.dispatches)),
});
