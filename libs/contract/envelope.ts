import type { Decision } from './decision.js';
import type { ErrorBody } from './errors.js';
import type { Usage } from './failure.js';
import type { ShownProgress } from './progress.js';
import type { PastAttempt } from './record.js';
import type { ReceiptLine } from './receipt.js';
import type { Independence, State } from './words.js';

/** The flat object that run, wait and result print: the names of the tool people come from, plus ours. */
export type Envelope = {
  schema: 'cmo.envelope/1';
  ok: boolean;
  deferred?: true;
  dispatchId: string;
  state: State;
  batch: string | null;
  provider: string | null;
  lane: string | null;
  vendor: string | null;
  model: string | null;
  tier: string | null;
  effort: string | null;
  independence?: Independence;
  degradedReview?: boolean;
  failedOver: boolean;
  attempts: (PastAttempt & { provider: string; failure: string | null; timedOut: boolean })[];
  durationMs: number;
  usage: Usage;
  result: string | null;
  resultJson: unknown;
  /**
   * An answer that is too large for Redis is a file of the node that made it: `blobs/<file>` in its state folder.
   * `cut`: asked of another node, which has only the head of it, `result` ends with a mark that says so.
   */
  resultFile?: { node: string; file: string; bytes: number; cut: boolean };
  /** Kept when a run died; never the answer. */
  partial?: string;
  needsLook?: true;
  resumeAfter?: string | null;
  decision: { weight: number; tier: string; reason: string; notes: string[] };
  /** While it runs. */
  progress?: ShownProgress;
  /** While it waits: derived from the gate's last answer, and from its own --not-before. */
  waiting?: { for: 'quota' | 'slot' | 'time'; why: string; until: string | null };
  cancelAsked?: true;
  /** The dispatch whose place it takes, and the one that took its own (`cmo retry`). */
  retryOf?: string;
  retriedBy?: string;
  /** What its sender should know, and what was no reason to refuse it. */
  warnings?: string[];
  receipts: ReceiptLine[];
  error?: ErrorBody;
};

/** The answer form of every newer command and of the API. */
export type Answer<T> = { schema: string; ok: true; data: T } | { schema: string; ok: false; error: ErrorBody };

/** What `plan` prints in place of a run. */
export type PlanEnvelope = { schema: 'cmo.envelope/1'; ok: boolean } & Record<string, unknown> & {
    decision?: Decision;
  };
