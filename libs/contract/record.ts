import type { Decision } from './decision.js';
import type { ErrorBody } from './errors.js';
import type { Usage } from './failure.js';
import type { CostVector } from './meter.js';
import type { DispatchRequest } from './request.js';
import type { Access, DispatchClass, FailureClass, Outcome, State } from './words.js';

/** The request as the record keeps it: prompt, schema and environment lie in blobs beside it. */
export type StoredRequest = Omit<DispatchRequest, 'prompt' | 'env' | 'schema'> & { hasSchema: boolean; envNames: string[] };

/** One attempt that ended, as the record remembers it for nextStep and for the reader. */
export type PastAttempt = {
  attempt: number;
  lane: string;
  vendor: string;
  model: string;
  effort: string | null;
  tier: string;
  node: string;
  outcome: Outcome;
  /** Null when ok or cancelled. */
  class: FailureClass | null;
  resetsAt: string | null;
  words: string | null;
  startedAt: number;
  endedAt: number;
  exitCode: number | null;
  signal: string | null;
  usage: Usage;
  session: string | null;
  /** What follows, in the policy's words. */
  next: string;
};

/**
 * A dispatch, as Redis owns it. `attempt` is the number of the attempt that runs or is next; it only grows.
 * Changed by compare-and-set on (state, attempt) only (libs/store, libs/queue).
 */
export type DispatchRecord = {
  schema: 1;
  id: string;
  state: State;
  attempt: number;
  /** The lane of this attempt; null when deferred before a lane was chosen. */
  lane: string | null;
  account: string | null;
  /** Where it runs, or must run (`cwd` binds it to a box). */
  home: string;
  node: string | null;
  class: DispatchClass;
  project: string;
  access: Access;
  tier: string | null;
  cost: CostVector;
  /** Fair tag: BullMQ's priority; kept over a re-route. */
  tag: number;
  submittedAt: number;
  notBefore: number | null;
  /** Waits for quota until then at most; null = without end. */
  waitUntil: number | null;
  startedAt: number | null;
  endedAt: number | null;
  cancelAsked: boolean;
  request: StoredRequest;
  decision: Decision;
  history: PastAttempt[];
  /** The vendor session to resume, with the lane it belongs to. */
  session: { lane: string; id: string } | null;
  error: ErrorBody | null;
  needsLook: boolean;
};
