import { STATES, type Census } from '#contract';
import { dispatchCount } from './count-text.js';

/** `250 dispatches: 240 succeeded, 10 failed`; it adds up. */
export function censusText(census: Census): string {
  const parts = STATES.filter((state) => census[state] > 0).map((state) => `${census[state]} ${state}`);
  const total = dispatchCount(census.total);
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`;
}
