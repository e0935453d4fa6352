import type { AccountSnapshot } from '#gate';

/**
 * Attempts that run. A token is not one: an idle lane's worker reserves for a moment each time it looks into its empty
 * queue.
 */
export function runningOf({ reservations }: Pick<AccountSnapshot, 'reservations'>): number {
  return reservations.filter(({ state }) => state === 'bound').length;
}
