import * as z from 'zod/mini';
import { NUMBERS } from '../bounds.js';
import type { Candidate, Decision, DecisionFactors, LaneFacts } from '../decision.js';
import {
  band,
  byName,
  flag,
  independence,
  instant,
  length,
  maybe,
  orNull,
  role,
  text,
  tier,
  within,
  type Same,
} from './words.js';

/** What is known of a lane when it is decided; the `limits` of `cmo explain decision`. */
export const laneFactsSchema = z.object({
  available: flag,
  worstPercent: maybe(z.number()),
  nextResetAt: maybe(orNull(instant)),
  hardBlocked: maybe(flag),
  blockedBy: maybe(text),
  installed: maybe(flag),
  scoped: maybe(z.array(z.object({ scope: text, percent: z.number(), resetsAt: maybe(orNull(instant)) }))),
});
export const laneFactsIsRight: Same<z.infer<typeof laneFactsSchema>, LaneFacts> = true;

const laneState = { state: band, percent: orNull(z.number()), resetsAt: orNull(instant) };

const candidateSchema = z.object({ ...laneState, lane: text, vendor: text, score: z.number(), why: z.array(text) });
export const candidateIsRight: Same<z.infer<typeof candidateSchema>, Candidate> = true;

const factorsSchema = z.object({
  role,
  complexity: within(NUMBERS.complexity),
  length,
  contextTokens: within(NUMBERS.contextTokens),
  needsSchema: flag,
  needsRepoWrite: flag,
  independentOf: orNull(text),
  strictIndependence: flag,
  pin: orNull(text),
  pinModel: orNull(text),
  pinModelLane: maybe(text),
  modelsOut: maybe(z.array(text)),
  lanesOut: maybe(z.array(text)),
  schemaRefusedBy: maybe(z.array(text)),
});
export const factorsIsRight: Same<z.infer<typeof factorsSchema>, DecisionFactors> = true;

const common = {
  weight: z.number().check(z.gte(0), z.lte(1)),
  tier,
  reason: text,
  notes: z.array(text),
  factors: factorsSchema,
  facts: byName(laneFactsSchema),
  states: byName(band),
  laneStates: byName(z.object(laneState)),
  candidates: z.array(candidateSchema),
  independence: orNull(independence),
};

/** Where a task goes and why, with the facts it was made from: enough to make it again. */
export const decisionSchema = z.discriminatedUnion('ok', [
  z.object({
    ...common,
    ok: z.literal(true),
    defer: z.literal(false),
    lane: text,
    vendor: text,
    model: text,
    effort: orNull(text),
    degradedReview: flag,
    fallback: orNull(text),
  }),
  z.object({
    ...common,
    ok: z.literal(false),
    defer: z.literal(true),
    reasonCode: z.enum(['both-out', 'both-out-review', 'strict-independence']),
    detail: maybe(z.literal('pinned-lane-out')),
    resumeAfter: orNull(instant),
  }),
]);
export const decisionIsRight: Same<z.infer<typeof decisionSchema>, Decision> = true;
