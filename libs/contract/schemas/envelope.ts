import * as z from 'zod/mini';
import type { Envelope } from '../envelope.js';
import { ERRORS, type ErrorBody, type ErrorCode } from '../errors.js';
import type { ShownProgress } from '../progress.js';
import { attemptSchema, usageSchema } from './attempt.js';
import { receiptLineSchema } from './receipt.js';
import {
  byName,
  count,
  dispatchId,
  flag,
  independence,
  instant,
  maybe,
  ms,
  orNull,
  state,
  text,
  type Same,
} from './words.js';

const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** The shape of every `error` member. */
export const errorSchema = z.object({
  code: z.enum(CODES),
  message: text,
  details: maybe(z.array(text)),
  fix: text,
  retryAfter: maybe(orNull(instant)),
});
export const errorIsRight: Same<z.infer<typeof errorSchema>, ErrorBody> = true;

const progressSchema = z.object({
  session: orNull(text),
  steps: count,
  tools: byName(count),
  toolsRunning: count,
  outputTokens: count,
  beside: maybe(z.array(text)),
  silentMs: ms,
});
export const progressIsRight: Same<z.infer<typeof progressSchema>, ShownProgress> = true;

/** What run, wait and result print of one dispatch. */
export const envelopeSchema = z.object({
  schema: z.literal('cmo.envelope/1'),
  ok: flag,
  deferred: maybe(z.literal(true)),
  dispatchId,
  state,
  batch: orNull(text),
  provider: orNull(text),
  lane: orNull(text),
  vendor: orNull(text),
  model: orNull(text),
  tier: orNull(text),
  effort: orNull(text),
  independence: maybe(independence),
  degradedReview: maybe(flag),
  failedOver: flag,
  attempts: z.array(z.extend(attemptSchema, { provider: text, failure: orNull(text), timedOut: flag })),
  durationMs: ms,
  usage: usageSchema,
  result: orNull(text),
  resultJson: z.unknown(),
  resultFile: maybe(z.object({ node: text, file: text, bytes: count, cut: flag })),
  partial: maybe(text),
  needsLook: maybe(z.literal(true)),
  resumeAfter: maybe(orNull(instant)),
  decision: z.object({ weight: z.number(), tier: text, reason: text, notes: z.array(text) }),
  waiting: maybe(z.object({ for: z.enum(['quota', 'slot', 'time']), why: text, until: orNull(instant) })),
  progress: maybe(progressSchema),
  cancelAsked: maybe(z.literal(true)),
  retryOf: maybe(dispatchId),
  retriedBy: maybe(dispatchId),
  warnings: maybe(z.array(text)),
  receipts: z.array(receiptLineSchema),
  error: maybe(errorSchema),
});
export const envelopeIsRight: Same<z.infer<typeof envelopeSchema>, Envelope> = true;
