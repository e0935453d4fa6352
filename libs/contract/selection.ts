import type { State } from './words.js';

/** Dispatches that are named by what they are; all given members must hold. */
export type Selection = {
  states?: State[];
  batch?: string;
  /** Each as `name=text`. */
  labels?: string[];
};

/** Which dispatches an action is for: by their ids, or by what they are. */
export type Picked = { ids: string[] } | { select: Selection };

/** Of those that were chosen: how many there are, and in which states. */
export type Matched = { matched: number; states: Partial<Record<State, number>> };

/** `asked`: those whose agents run, and end as soon as their nodes have read it. */
export type CancelManyData = Matched & { cancelled: number; alreadyEnded: number; asked: string[] };

export type RetryData = Matched & { dispatches: { id: string; retryOf: string; state: State }[] };
