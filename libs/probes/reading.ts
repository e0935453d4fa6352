import type { MeterReading, Overage, Reached } from '#contract';

export type { Overage, Reached } from '#contract';

export type Reading = MeterReading & {
  /** False: the source names only some windows, so a meter must keep the others it knows. */
  complete: boolean;
  reached: Reached | null;
  overage: Overage | null;
};

/**
 * Why there is no number. The first group is the usage endpoint's, the second the session files', the third a login's.
 */
export type DarkReason =
  | 'auth_expired'
  | 'auth_invalid'
  | 'forbidden'
  | 'throttled'
  | 'server_error'
  | 'bad_body'
  | 'no_windows'
  | 'no_sessions'
  | 'no_reading'
  | 'other_pool_only'
  | 'unreadable'
  | 'read_bound'
  | 'no_login'
  | 'repair_failed'
  | 'other_endpoint';

export type Dark = {
  kind: 'dark';
  reason: DarkReason;
  /** One sentence for a person; never a token or a body. */
  detail: string;
  /** Ask again no sooner than this many ms from now; null when asking again costs nothing. */
  retryAfterMs: number | null;
};

/** A dark answer never replaces a reading: it only lets the last one age. */
export type Probe = { kind: 'reading'; reading: Reading } | Dark;

export function dark(reason: DarkReason, detail: string, retryAfterMs: number | null = null): Dark {
  return { kind: 'dark', reason, detail, retryAfterMs };
}
