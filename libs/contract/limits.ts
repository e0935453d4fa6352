import type { WindowStatus } from './answers.js';
import type { Overage } from './meter.js';

/**
 * What is known of every account's windows, as `GET /v1/limits` answers it and meters.json keeps it. Times are ISO, by
 * the clock of the box that wrote it; percents are the vendor's, 0..100.
 */
export type LimitsData = {
  node: string;
  /** When this picture was made. */
  writtenAt: string;
  pressure: { tight: number; critical: number; exhausted: number };
  accounts: AccountMeter[];
};

export type MetersFile = { schema: 'cmo.meters/1' } & LimitsData;

export type MeterWindowStatus = WindowStatus & {
  /** Null: account-wide; else the model family it binds. */
  scope: string | null;
};

export type AccountMeter = {
  account: string;
  lanes: MeterLane[];
  windows: MeterWindowStatus[];
  inFlight: number;
  paused: boolean;
  /** A refusal of the vendor that outranks the percents. */
  closed: { until: string; reason: string } | null;
  reading: {
    source: string;
    /** When the vendor wrote the numbers. */
    writtenAt: string;
    readAt: string;
    plan: string | null;
    /** The vendor's word that the account is closed, whatever the percents say. */
    reached: { flag: string; resetsAt: string | null } | null;
    /** Money beside the subscription: shown, never headroom. */
    overage: Overage | null;
  } | null;
  /** Age up to which a reading is fresh. */
  freshnessMs: number;
  /** The latest end of a run of ours on this account. */
  lastRunEndedAt: string | null;
  /** Why the source gave no number when it was asked last; null: it gave one, or was never asked. */
  dark: { reason: string; detail: string; since: string; nextTryAt: string | null } | null;
  costs: MeterCost[];
};

export type MeterLane = {
  id: string;
  vendor: string;
  kind: 'codex' | 'claude';
  command: string;
  /** On the PATH of the daemon. */
  installed: boolean;
  /** Host of the endpoint that `lanes.<id>.env` points its CLI to. */
  endpoint: string | null;
  /** Why nothing is started on this lane of this box (its login has lapsed); null: it is. */
  hold: string | null;
};

/** Points that an attempt is taken to cost. `measured`: samples it is the mean of; 0: the configuration's word. */
export type MeterCost = { lane: string; tier: string; window: string; points: number; measured: number };
