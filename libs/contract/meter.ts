import type { WindowKind } from './words.js';

/**
 * Past this age, ms, a reading is not to be trusted if runs of ours ended after it was written: the meter is dark
 * (rulings §10).
 */
export const DARK_AFTER_MS = 60 * 60_000;

/**
 * One rolling limit of an account, as the vendor reported it. Percent of the window, 0..100. `id` names it within the
 * account: the kind, and for a scoped one `kind:scope` (`weekly:opus`).
 */
export type MeterWindow = {
  id: string;
  kind: WindowKind;
  usedPercent: number;
  /** Milliseconds since the epoch, null when unknown. */
  resetsAt: number | null;
  /** Null: account-wide; else the lower-case model family it binds. */
  scope: string | null;
};

/**
 * The vendor's own word that the account is closed, beside the percents (they may still read under the limit).
 * `resetsAt` (ms): when it opens again; null when nothing says so.
 */
export type Reached = { flag: string; resetsAt: number | null };

/**
 * Money beside the subscription: codex credits, claude extra usage. Shown, never headroom. Amounts as the vendor wrote
 * them.
 */
export type Overage = {
  enabled: boolean;
  /** True while the vendor says that answers are being paid from it; null when it doesn't say. */
  inUse: boolean | null;
  unlimited: boolean;
  balance: string | null;
  usedPercent: number | null;
};

/** The last reading of an account. `writtenAt` is when the vendor wrote the number, never when we looked. */
export type MeterReading = {
  account: string;
  windows: MeterWindow[];
  /** `codex session log`, `claude stream`, `claude usage endpoint`, … */
  source: string;
  writtenAt: number;
  readAt: number;
  plan: string | null;
  reached?: Reached | null;
  overage?: Overage | null;
};

/** Points of each window, in thousandths: the gate never sees a float. Keys are window ids. */
export type CostVector = Record<string, number>;
