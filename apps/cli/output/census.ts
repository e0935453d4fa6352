import { STATES, type Census } from '#contract';

/** `250 dispatches: 240 succeeded, 10 failed`; it adds up. */
export function censusText(census: Census): string {
  const parts = STATES.filter((state) => census[state] > 0).map((state) => `${census[state]} ${state}`);
  return `${census.total} ${census.total === 1 ? 'dispatch' : 'dispatches'}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}
