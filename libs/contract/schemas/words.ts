import * as z from 'zod/mini';
import { BOUNDS, type NumberRule } from '../bounds.js';
import { BATCH_NAME, DISPATCH_ID } from '../ids.js';
import {
  ACCESSES,
  BANDS,
  CLASSES,
  FAILURE_CLASSES,
  INDEPENDENCE,
  LENGTHS,
  OUTCOMES,
  ROLES,
  STATES,
  TIERS,
  WINDOW_KINDS,
  END_STATES,
} from '../words.js';

/**
 * The pieces that the schemas share. Nothing of this folder stands in what the CLI loads eagerly: zod costs each start
 * of it.
 */

/** Holds when both types say the same, optional members too; a schema that drifts from its type does not compile. */
export type Same<A, B> = [A, KeysOf<A>] extends [B, KeysOf<B>]
  ? [B, KeysOf<B>] extends [A, KeysOf<A>]
    ? true
    : never
  : never;
type KeysOf<T> = T extends unknown ? keyof T : never;

export const role = z.enum(ROLES);
export const length = z.enum(LENGTHS);
export const tier = z.enum(TIERS);
export const access = z.enum(ACCESSES);
export const dispatchClass = z.enum(CLASSES);
export const state = z.enum(STATES);
export const endState = z.enum(END_STATES);
export const band = z.enum(BANDS);
export const windowKind = z.enum(WINDOW_KINDS);
export const failureClass = z.enum(FAILURE_CLASSES);
export const outcome = z.enum(OUTCOMES);
export const independence = z.enum(INDEPENDENCE);

export const dispatchId = z.string().check(z.regex(DISPATCH_ID));
export const attemptId = z.string().check(z.regex(/^d-[0-9A-HJKMNP-TV-Z]{26}\.[1-9][0-9]{0,5}$/));
export const batchName = z.string().check(z.regex(BATCH_NAME));
/** No control characters (they would forge lines in listings and logs), no blank ends, not empty. */
export const word = z.string().check(z.maxLength(BOUNDS.word), z.regex(/^(?!\s)[^\p{C}]+(?<!\s)$/u));

export function within({ min, max, whole }: NumberRule) {
  return whole ? z.int().check(z.gte(min), z.lte(max)) : z.number().check(z.gte(min), z.lte(max));
}

export const text = z.string();
export const flag = z.boolean();
/** ISO 8601, UTC. */
export const instant = z.string();
export const count = z.int().check(z.gte(0));
/** Milliseconds; since the epoch where it is a moment. */
export const ms = z.number();
export const orNull = <T extends z.ZodMiniType>(schema: T) => z.nullable(schema);
export const maybe = <T extends z.ZodMiniType>(schema: T) => z.exactOptional(schema);
/** Keys that come from outside: a record in what is read, never used to index anything. */
export const byName = <T extends z.ZodMiniType>(schema: T) => z.record(z.string(), schema);
