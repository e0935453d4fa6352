import { attemptId } from '#contract';
import type { Resources } from './resources.js';
import type { Roster } from './roster.js';

/** The slots of agents that wait for agents of their own; apps/api/lending.ts says when an agent waits. */
export interface LentSlots {
  /** How many agents of this node wait so now. */
  count(): number;
  /** Calls are done one after the other: a slot that was taken back must not end up lent. */
  lend(attempt: string, lent: boolean): Promise<void>;
  /** The attempt is over. */
  forget(attempt: string): void;
}

/** @param freed called when this node may have room for one more run */
export function lentSlots(
  { gate, records }: Pick<Resources, 'gate' | 'records'>,
  roster: () => Pick<Roster, 'all' | 'has'>,
  freed: () => void,
): LentSlots {
  const lent = new Set<string>();
  let last: Promise<void> = Promise.resolve();

  async function lendOne(attempt: string, lend: boolean): Promise<void> {
    const tender = roster()
      .all()
      .find((one) => attemptId(one.dispatch, one.attempt) === attempt);
    const account = tender && (await records.read(tender.dispatch))?.account;
    if (!account || !roster().has(attempt)) return;
    if (lend) lent.add(attempt);
    else lent.delete(attempt);
    await gate.lend(attempt, account, lend);
    if (lend) freed();
  }

  return {
    count: () => lent.size,
    lend(attempt, lend) {
      last = last.catch(() => undefined).then(() => lendOne(attempt, lend));
      return last;
    },
    forget: (attempt) => void lent.delete(attempt),
  };
}
