import type { Envelope } from './envelope.js';
import { STATES, type State } from './words.js';

/** How many of a batch are in each state. The states always add up to `total`. */
export type Census = Record<State | 'total', number>;

export type BatchData = { batch: string; census: Census; dispatches: Envelope[] };

export function censusOf(states: readonly State[]): Census {
  const census = Object.fromEntries([['total', states.length], ...STATES.map((state) => [state, 0])]) as Census;
  for (const state of states) census[state]++;
  return census;
}
