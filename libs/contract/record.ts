import type { Decision } from './decision.js';
import type { ErrorBody } from './errors.js';
import type { Began, Usage } from './failure.js';
import type { CostVector } from './meter.js';
import type { Progress } from './progress.js';
import type { DispatchRequest } from './request.js';
import type { Access, DispatchClass, FailureClass, Outcome, State } from './words.js';

/** The request as the record keeps it: prompt, schema and environment are in blobs beside it. */
export type StoredRequest = Omit<DispatchRequest, 'prompt' | 'env' | 'schema'> & {
  hasSchema: boolean;
  envNames: string[];
  /** Of work that any node may do: the node whose environment came with it. */
  origin?: string;
  /** The ended dispatch that it takes the place of (`cmo retry`). */
  retryOf?: string;
  /** Lanes that never get it, whatever their windows say. */
  schemaRefusedBy?: string[];
  /** What its sender should know, and what was no reason to refuse it. */
  warnings?: string[];
};

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
  /** Whether it may have acted; absent in records of older daemons. */
  began?: Began;
  /** What follows, in the policy's words. */
  next: string;
};

/**
 * How an attempt begins, when not from the prompt alone. `resume`: in the vendor's session of an attempt that was cut
 * off. `repair`: in the session whose answer did not fit the schema. Both are bound to the lane and the node where the
 * session's files lie. `continue`: on another lane than the one that may have written already; its partial output goes
 * along.
 */
export type TakeUp =
  | { how: 'resume'; lane: string; node: string; session: string }
  | { how: 'repair'; lane: string; node: string; session: string; problems: string }
  | { how: 'continue'; from: string };

/**
 * A lane that this dispatch left because of a window event. It is not offered again until the window's reset or, where
 * the vendor stated none, while the closing of this number lasts. Times are Redis'.
 */
export type LeftLane = { lane: string; event: string; until?: number; closing?: number };

/**
 * A dispatch, as Redis owns it. `attempt` is the number of the attempt that runs or is next; it only grows. Changed by
 * compare-and-set on (state, attempt) only (libs/store, libs/queue).
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
  /** Of the next start: a back-off, or the person's --not-before. */
  notBefore: number | null;
  /** Waits for quota until then at most; null = without end. */
  waitUntil: number | null;
  /** Not started for the first time after this (--ttl); null = no bound. */
  startBy: number | null;
  /** Over by then, whatever it does (--deadline); null = no bound. */
  endBy: number | null;
  left: LeftLane[];
  /** The dispatch that took its place; null = none did. */
  retriedBy: string | null;
  startedAt: number | null;
  endedAt: number | null;
  cancelAsked: boolean;
  request: StoredRequest;
  decision: Decision;
  history: PastAttempt[];
  /** How the next attempt takes up what the last one left; null: from the prompt alone. */
  takeUp: TakeUp | null;
  error: ErrorBody | null;
  needsLook: boolean;
  /** The attempt that works in its folder and keeps it waiting (`--exclusive`); absent: none. */
  behind?: string;
  /** Of the attempt that runs; absent until it is known. */
  progress?: Progress;
};
