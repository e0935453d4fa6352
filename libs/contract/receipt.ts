import type { EndState, FailureClass, Independence, Length, Outcome, Role } from './words.js';
import type { Decision } from './decision.js';
import type { Usage } from './failure.js';

/** How far a git tree is from the commit that stood there when the attempt began. */
export type DiffStat = {
  head: string;
  files: number;
  insertions: number;
  deletions: number;
  /** Files and folders that git does not know. */
  untracked: number;
};

/** One line per started attempt. `id` = `<dispatch>.<n>`; readers drop repeats by (kind, id). */
export type AttemptReceipt = {
  kind: 'attempt';
  schema: 'cmo.receipt/1';
  id: string;
  dispatch: string;
  attempt: number;
  at: string;
  lane: string;
  vendor: string;
  model: string;
  effort: string | null;
  tier: string;
  node: string;
  project: string;
  batch: string | null;
  access: 'read' | 'write';
  outcome: Outcome;
  class: FailureClass | null;
  resetsAt: string | null;
  /** The vendor's words of a failure, capped. */
  words: string | null;
  next: string;
  startedAt: string;
  durationMs: number;
  exitCode: number | null;
  signal: string | null;
  usage: Usage;
  session: string | null;
  cliVersion: string | null;
  /** `<host>` when lanes.<id>.env points the CLI elsewhere. */
  endpoint: string | null;
  adopted: boolean;
  /**
   * What it was taken to cost, points per window; `measured`: the mean of earlier attempts, else the configuration's
   * word.
   */
  cost?: { points: Record<string, number>; measured: boolean };
  /** A late result of an attempt that was fenced: evidence, never the answer. */
  fenced: boolean;
  /** Of a writer in a git tree; absent where it could not be told. */
  diff?: { before: DiffStat; after: DiffStat };
  notes: string[];
};

/** One line per ended dispatch, also for deferred, expired and cancelled-in-the-queue ones (attempts 0). */
export type DispatchReceipt = {
  kind: 'dispatch';
  schema: 'cmo.receipt/1';
  id: string;
  at: string;
  ok: boolean;
  state: EndState;
  /** Lane id of the attempt that answered or failed last; null when none started. */
  provider: string | null;
  lane: string | null;
  vendor: string | null;
  model: string | null;
  tier: string | null;
  role: Role;
  weight: number;
  complexity: number;
  length: Length;
  independence: Independence | null;
  degradedReview: boolean;
  failedOver: boolean;
  attempts: number;
  attemptIds: string[];
  /** The attempt that answered, as its id. */
  answeredBy: string | null;
  retried: boolean;
  failures: FailureClass[];
  durationMs: number;
  tokens: { in: number; out: number } | null;
  node: string | null;
  project: string;
  batch: string | null;
  needsLook: boolean;
  error: string | null;
  notes: string[];
  /** The last one, with the facts it was made from: `cmo replay` makes it again. Absent in lines of older versions. */
  decision?: Decision;
};

export type ReceiptLine = AttemptReceipt | DispatchReceipt;
