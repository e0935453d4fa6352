import type { ControlData } from './control.js';
import type { DispatchRecord } from './record.js';
import type { Envelope } from './envelope.js';
import type { ShownProgress } from './progress.js';
import type { ReceiptLine } from './receipt.js';
import type { DispatchClass, Independence, Role, State, WindowKind } from './words.js';

/** `data` of the daemon's answers, as both sides of the socket know them. Times are ISO. */

/** One line of a listing. */
export type DispatchRow = {
  id: string;
  state: State;
  lane: string | null;
  vendor: string | null;
  model: string | null;
  tier: string | null;
  role: Role;
  class: DispatchClass;
  project: string;
  batch: string | null;
  node: string | null;
  /** Started attempts. */
  attempts: number;
  submittedAt: string;
  startedAt: string | null;
  endedAt: string | null;
  waiting: NonNullable<Envelope['waiting']> | null;
  cancelAsked: boolean;
  needsLook: boolean;
  /** Of graded work: whether it is graded on another vendor than made it; null when it grades nothing. */
  independence: Independence | null;
  degradedReview: boolean;
  /** While it runs. */
  progress: ShownProgress | null;
  /** Its error's code and first words. */
  error: string | null;
};

export type SubmitData = { dispatches: Envelope[] };
export type ListData = { dispatches: DispatchRow[] };
export type ShowData = {
  record: DispatchRecord;
  receipts: ReceiptLine[];
  waiting: NonNullable<Envelope['waiting']> | null;
};
export type CancelData = { id: string; state: State; how: 'cancelled' | 'asked' | 'already-ended' };

export type WindowStatus = {
  id: string;
  kind: WindowKind;
  usedPercent: number;
  reserved: number;
  settling: number;
  estimated: number;
  effective: number;
  resetsAt: string | null;
};

export type LaneStatus = {
  id: string;
  vendor: string;
  account: string;
  command: string;
  installed: boolean;
  /** Host of the endpoint that `lanes.<id>.env` points its CLI to, else null. */
  endpoint: string | null;
  inFlight: number;
  closed: { until: string; reason: string } | null;
  paused: boolean;
  reading: { source: string; writtenAt: string } | null;
  windows: WindowStatus[];
};

export type StatusData = {
  version: string;
  protocol: number;
  pid: number;
  node: string;
  /** A service of the box runs it: it does not leave when nothing is to do. */
  service: boolean;
  startedAt: string;
  /** Runs that this daemon tends now. */
  running: number;
  /** `address` without credentials; `pid` null when it is not ours. */
  redis: { private: boolean; address: string; pid: number | null; version: string | null; warnings: string[] };
  counts: Record<State, number>;
  lanes: LaneStatus[];
  /** Pauses, drained nodes and slots that a person has set. */
  control: ControlData;
};

/**
 * Of `GET /readyz`: what keeps work from coming forward here, one sentence each, and of each queue how long its worker
 * has shown no sign, ms.
 */
export type HealthData = {
  problems: string[];
  lanes: { queue: string; silentMs: number; deaf: boolean; replaced: number }[];
};
