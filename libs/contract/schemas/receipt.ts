import * as z from 'zod/mini';
import { NUMBERS } from '../bounds.js';
import type { AttemptReceipt, DispatchReceipt } from '../receipt.js';
import { usageSchema } from './attempt.js';
import { decisionSchema } from './decision.js';
import {
  access,
  attemptId,
  byName,
  count,
  dispatchId,
  endState,
  failureClass,
  flag,
  independence,
  instant,
  length,
  maybe,
  ms,
  orNull,
  outcome,
  role,
  text,
  within,
  type Same,
} from './words.js';

const diffStat = z.object({ head: text, files: count, insertions: count, deletions: count, untracked: count });

/** One line for each started attempt. */
export const attemptReceiptSchema = z.object({
  kind: z.literal('attempt'),
  schema: z.literal('cmo.receipt/1'),
  id: attemptId,
  dispatch: dispatchId,
  attempt: count,
  at: instant,
  lane: text,
  vendor: text,
  model: text,
  effort: orNull(text),
  tier: text,
  node: text,
  project: text,
  batch: orNull(text),
  access,
  outcome,
  class: orNull(failureClass),
  resetsAt: orNull(instant),
  words: orNull(text),
  next: text,
  startedAt: instant,
  durationMs: ms,
  exitCode: orNull(z.int()),
  signal: orNull(text),
  usage: usageSchema,
  session: orNull(text),
  cliVersion: orNull(text),
  endpoint: orNull(text),
  adopted: flag,
  cost: maybe(z.object({ points: byName(z.number()), measured: flag })),
  fenced: flag,
  diff: maybe(z.object({ before: diffStat, after: diffStat })),
  notes: z.array(text),
});
export const attemptReceiptIsRight: Same<z.infer<typeof attemptReceiptSchema>, AttemptReceipt> = true;

/** One line for each dispatch that ended, also when none of its attempts started. */
export const dispatchReceiptSchema = z.object({
  kind: z.literal('dispatch'),
  schema: z.literal('cmo.receipt/1'),
  id: dispatchId,
  at: instant,
  ok: flag,
  state: endState,
  provider: orNull(text),
  lane: orNull(text),
  vendor: orNull(text),
  model: orNull(text),
  tier: orNull(text),
  role,
  weight: z.number(),
  complexity: within(NUMBERS.complexity),
  length,
  independence: orNull(independence),
  degradedReview: flag,
  failedOver: flag,
  attempts: count,
  attemptIds: z.array(text),
  answeredBy: orNull(text),
  retried: flag,
  failures: z.array(failureClass),
  durationMs: ms,
  tokens: orNull(z.object({ in: count, out: count })),
  node: orNull(text),
  project: text,
  batch: orNull(text),
  needsLook: flag,
  error: orNull(text),
  notes: z.array(text),
  decision: maybe(decisionSchema),
});
export const dispatchReceiptIsRight: Same<z.infer<typeof dispatchReceiptSchema>, DispatchReceipt> = true;

/** A line of receipts/YYYY-MM.jsonl. Readers drop repeats by (kind, id). */
export const receiptLineSchema = z.discriminatedUnion('kind', [attemptReceiptSchema, dispatchReceiptSchema]);
