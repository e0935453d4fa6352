import type { Access, FailureClass } from './words.js';

/** What the vendor's failure channel said, classified. `words` are the vendor's own, capped at 500 characters. */
export type Failure = {
  class: FailureClass;
  /** ISO instant of the reset the vendor stated, null when not stated or unreadable; only for the two limits. */
  resetsAt?: string | null;
  words: string;
};

export type Usage = { inputTokens: number; outputTokens: number } | null;

/** What reading one finished run gives: either an answer, or a failure with what may be kept. */
export type RunReading =
  | { ok: true; text: string; structured?: unknown; usage: Usage; began: Began; session: string | null; toolCalls: number }
  | { ok: false; failure: Failure; partial: string | null; usage: Usage; began: Began; session: string | null; toolCalls: number };

/** Whether any tool ran: an agent with access write that may have acted is never silently run again. */
export type Began = 'yes' | 'no' | 'unknown';

/** One earlier failed attempt of the dispatch, as nextStep counts it. */
export type PastFailure = { lane: string; class: FailureClass | 'interrupted' | 'lost'; model?: string };

export type StepFacts = {
  now: number;
  /** 0..1, injected: jitter of the back-off. */
  random: number;
  access: Access;
  began: Began;
  /** The vendor's session id, when one is known and can be resumed on this lane. */
  session: string | null;
  retryWrites: boolean;
  failover: boolean;
  /** `--attempts N`: replaces every budget; null = budgets per class. */
  attempts: number | null;
  lane: string;
  /** Lanes other than this one that a new decision could take now. */
  otherLanes: string[];
  /** Another tier's model of this lane that was not tried yet. */
  otherModel: string | null;
};

export type NextStep =
  | { kind: 'retry'; why: string; notBefore: number; resume: boolean; model?: string }
  | { kind: 'switch'; why: string; closeLane: boolean }
  | { kind: 'wait'; why: string; until: number | null; closeLane: boolean }
  | { kind: 'stop'; why: string; needsLook: boolean; closeLane: boolean };
