/** The one vocabulary: every closed set of words that CLI, API, records and receipts share. */

export const ROLES = ['mechanical', 'research', 'implement', 'review', 'synthesis', 'judge', 'architecture'] as const;
export type Role = (typeof ROLES)[number];

export const LENGTHS = ['xs', 's', 'm', 'l', 'xl'] as const;
export type Length = (typeof LENGTHS)[number];

export const TIERS = ['fast', 'balanced', 'frontier'] as const;
export type Tier = (typeof TIERS)[number];

export const ACCESSES = ['read', 'write'] as const;
export type Access = (typeof ACCESSES)[number];

/** Scheduling class. Normal and batch may not use the slot and point held back for interactive work. */
export const CLASSES = ['interactive', 'normal', 'batch'] as const;
export type DispatchClass = (typeof CLASSES)[number];

/**
 * Stored states of a dispatch. waiting-quota and waiting-slot are derived from the gate's last answer, never stored.
 */
export const LIVE_STATES = ['queued', 'running', 'retrying'] as const;
export const END_STATES = ['succeeded', 'failed', 'cancelled', 'timed_out', 'deferred', 'expired'] as const;
export const STATES = [...LIVE_STATES, ...END_STATES] as const;
export type LiveState = (typeof LIVE_STATES)[number];
export type EndState = (typeof END_STATES)[number];
export type State = (typeof STATES)[number];

/** It has a ticket, or gets one: nothing of it runs. */
export function isWaiting(state: State): state is 'queued' | 'retrying' {
  return state === 'queued' || state === 'retrying';
}

export function isEnded(state: State): state is EndState {
  return (END_STATES as readonly string[]).includes(state);
}

export const BANDS = ['ok', 'tight', 'critical', 'exhausted', 'unknown', 'missing'] as const;
export type Band = (typeof BANDS)[number];

export const WINDOW_KINDS = ['five_hour', 'weekly', 'monthly', 'other'] as const;
export type WindowKind = (typeof WINDOW_KINDS)[number];

export const FAILURE_CLASSES = [
  'rate_limit',
  'usage_limit',
  'auth',
  'transient',
  'overloaded',
  'timeout',
  'silence',
  'deterministic',
  'schema',
  'killed',
  'model_unavailable',
  'content_refused',
  'environment',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** How an attempt ended, as its receipt says it. */
export const OUTCOMES = ['ok', 'failed', 'cancelled', 'timed_out', 'interrupted', 'lost'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const INDEPENDENCE = ['cross-vendor', 'same-vendor', 'none'] as const;
export type Independence = (typeof INDEPENDENCE)[number];
