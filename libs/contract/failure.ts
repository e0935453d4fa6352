import type { Access, FailureClass } from './words.js';

/** What the vendor's failure channel said, classified. `words` are the vendor's own, capped at 500 characters. */
export type Failure = {
  class: FailureClass;
  /** ISO instant of the reset the vendor stated, null when not stated or unreadable; only for the two limits. */
  resetsAt?: string | null;
  /** Only for `environment`: the whole box has it (disk full), so another lane here would fail the same way. */
  boxWide?: true;
  /** Only for `environment`: it wrote events that our reader doesn't know. The lane closes when that goes on. */
  drift?: true;
  words: string;
};

export type Usage = { inputTokens: number; outputTokens: number } | null;

/** What reading one finished run gives: either an answer, or a failure with what may be kept. */
export type RunReading =
  | {
      ok: true;
      text: string;
      structured?: unknown;
      usage: Usage;
      began: Began;
      session: string | null;
      toolCalls: number;
    }
  | {
      ok: false;
      failure: Failure;
      partial: string | null;
      usage: Usage;
      began: Began;
      session: string | null;
      toolCalls: number;
    };

/** Whether any tool ran: an agent with access write that may have acted is never silently run again. */
export type Began = 'yes' | 'no' | 'unknown';

/** One earlier failed attempt of the dispatch, as nextStep counts it. */
export type PastFailure = { lane: string; class: FailureClass | 'interrupted' | 'lost'; model?: string };

/** What nextStep answers: a vendor's failure, or an attempt whose processes are gone without an exit record. */
export type StepFailure = Failure | { class: 'interrupted' | 'lost' };

export type StepFacts = {
  /** Milliseconds since the epoch. */
  now: number;
  /** 0..1, injected: jitter of the back-off. */
  random: number;
  access: Access;
  /** Of this attempt. */
  began: Began;
  /** An earlier attempt of this dispatch may have written: what follows is never a plain run on another lane. */
  beganBefore?: boolean;
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

/**
 * `resume`: continue the vendor's session with a prompt that says it was cut off (for `schema`: what was wrong), else a
 * plain run. `continued`: the other lane's prompt says that earlier work may lie in cwd, and carries the partial
 * output.
 */
export type NextStep =
  | { kind: 'retry'; why: string; notBefore: number; resume: boolean; model?: string }
  | { kind: 'switch'; why: string; closeLane: boolean; continued: boolean }
  /** `until` null: the vendor stated no time; a person, or the gate's own bound, opens the lane. */
  | { kind: 'wait'; why: string; until: number | null; resume: boolean; closeLane: boolean }
  /** `poison`: what its attempts came to, taken together, is the reason, and not how the last of them ended. */
  | { kind: 'stop'; why: string; needsLook: boolean; closeLane: boolean; poison?: true };
