import type { Band, Independence, Length, Role, Tier } from './words.js';

/** What the policy needs to know of a dispatch. Absent members mean the documented defaults (implement, 3, m). */
export type Task = {
  role?: Role;
  /** Whole number 1..5. */
  complexity?: number;
  length?: Length;
  /** Tokens of context the agent will read; 0 when not said. */
  contextTokens?: number;
  needsSchema?: boolean;
  /** `--write` was given: the tier floor of correction 4. Access by role alone does not set it. */
  needsRepoWrite?: boolean;
  /** A lane id or a vendor. */
  independentOf?: string;
  strictIndependence?: boolean;
  /** A lane id. */
  pin?: string;
  /** A model named by the person; applies to the chosen lane only. */
  pinModel?: string;
  /**
   * The lane that the first decision put pinModel on: a lane taken later runs its own tier's model. Absent = the lane
   * chosen now.
   */
  pinModelLane?: string;
  /** Models that answered model_unavailable in this dispatch, as `<lane>/<model>`; never offered again. */
  modelsOut?: string[];
  /** Lanes this dispatch left for a window event that is still on (rulings: never offered again for the same event). */
  lanesOut?: string[];
  /** Lanes whose vendor's structured output refuses the schema of this task: no turn would begin there. */
  schemaRefusedBy?: string[];
};

/** A lane's meter as the policy reads it. Percents are effective: reported + reserved + settling + estimated. */
export type LaneFacts = {
  /** False: no reading to use; the lane's band is `unknown`. */
  available: boolean;
  /** Worst account-wide window's effective percent. */
  worstPercent?: number;
  /** ISO time of the reset that would open the lane again, or null when not stated. */
  nextResetAt?: string | null;
  /** Closed. Alone it is the reading's own word and says nothing once there is no reading. */
  hardBlocked?: boolean;
  /**
   * We closed it, and why: `usage_limit`, `rate_limit`, `auth`, `paused`, `limit`. Set it whenever the closing is our
   * own memory: a refusal outranks the meter, so with it hardBlocked holds on a dark meter too.
   */
  blockedBy?: string;
  /** False: the lane's CLI is not on PATH. */
  installed?: boolean;
  /** Windows that bind only some models; counted when the chosen model is in scope. */
  scoped?: { scope: string; percent: number; resetsAt?: string | null }[];
};

export type LanesFacts = Record<string, LaneFacts>;

export type TierModel = { model: string; effort?: string };

/** The part of the configuration that the policy reads. */
export type PolicyConfig = {
  /** In config order: that order breaks the last tie. */
  lanes: { id: string; vendor: string; models: Record<Tier, TierModel> }[];
  preference: { first: string; weightPoints: number };
  pressure: { tight: number; critical: number; exhausted: number };
};

export type LaneState = { state: Band; percent: number | null; resetsAt: string | null };

export type Candidate = LaneState & { lane: string; vendor: string; score: number; why: string[] };

export type DecisionFactors = {
  role: Role;
  complexity: number;
  length: Length;
  contextTokens: number;
  needsSchema: boolean;
  needsRepoWrite: boolean;
  independentOf: string | null;
  strictIndependence: boolean;
  pin: string | null;
  pinModel: string | null;
  /** Only where the dispatch has met something already; a decision could not be replayed without them. */
  pinModelLane?: string;
  modelsOut?: string[];
  lanesOut?: string[];
  schemaRefusedBy?: string[];
};

type Common = {
  weight: number;
  tier: Tier;
  /** `role · complexity n/5 · length x → tier | why; why` */
  reason: string;
  notes: string[];
  factors: DecisionFactors;
  /** The facts it was made from, whole, so that it can be replayed offline. */
  facts: LanesFacts;
  /** The short form of the vectors; `plan` adds percent and reset. */
  states: Record<string, Band>;
  laneStates: Record<string, LaneState>;
  candidates: Candidate[];
  independence: Independence | null;
};

export type Chosen = Common & {
  ok: true;
  defer: false;
  lane: string;
  vendor: string;
  model: string;
  effort: string | null;
  degradedReview: boolean;
  /** The next usable lane, for reading only: at run time the next decision is the fallback. */
  fallback: string | null;
};

export type Deferral = Common & {
  ok: false;
  defer: true;
  reasonCode: 'both-out' | 'both-out-review' | 'strict-independence';
  detail?: 'pinned-lane-out';
  resumeAfter: string | null;
};

export type Decision = Chosen | Deferral;
