import type { Envelope } from './envelope.js';
import { STATES, type State } from './words.js';

/** How many of a batch are in each state. The states always add up to `total`. */
export type Census = Record<State | 'total', number>;

/** How a batch stands, counted by whatever moved its members: it adds up at every moment. */
export type BatchStatus = {
  batch: string;
  census: Census;
  /** Of those, the ones whose place a retry of the same batch took. */
  replaced: Partial<Record<State, number>>;
  /** When something was submitted to it first and last, ms. */
  firstAt: number;
  lastAt: number;
};

export type BatchesData = { batches: BatchStatus[] };

export type BatchData = { batch: string; census: Census; dispatches: Envelope[] };

export function censusOf(states: readonly State[]): Census {
  const census = Object.fromEntries([['total', states.length], ...STATES.map((state) => [state, 0])]) as Census;
  for (const state of states) census[state]++;
  return census;
}
