import * as z from 'zod/mini';
import type { Usage } from '../failure.js';
import type { PastAttempt } from '../record.js';
import { count, failureClass, instant, maybe, ms, orNull, outcome, text, type Same } from './words.js';

export const usageSchema = orNull(z.object({ inputTokens: count, outputTokens: count }));
export const usageIsRight: Same<z.infer<typeof usageSchema>, Usage> = true;

/** One attempt that ended, as the record and the envelope remember it. */
export const attemptSchema = z.object({
  attempt: count,
  lane: text,
  vendor: text,
  model: text,
  effort: orNull(text),
  tier: text,
  node: text,
  outcome,
  class: orNull(failureClass),
  resetsAt: orNull(instant),
  words: orNull(text),
  startedAt: ms,
  endedAt: ms,
  exitCode: orNull(z.int()),
  signal: orNull(text),
  usage: usageSchema,
  session: orNull(text),
  began: maybe(z.enum(['yes', 'no', 'unknown'])),
  next: text,
});
export const attemptIsRight: Same<z.infer<typeof attemptSchema>, PastAttempt> = true;
