import { attemptId } from '#contract';
import type { Tender } from './tender.js';

/** The runs of this node that have a tender, and the tickets being opened: what the scan must pass over. */
export interface Roster {
  /** Attempt ids inside a ticket's opening: filled before the record is read, emptied when a tender has taken over. */
  opening: Set<string>;
  /** Starts a tender, or returns the one that is there. */
  tend(run: RunRef): Tender;
  has(id: string): boolean;
  all(): Tender[];
  count(): number;
  /** A cancel was asked for this dispatch. */
  cancel(dispatch: string): void;
  /** Leaves every run as it is: the agents go on and are adopted by the next worker. */
  handOver(): Promise<void>;
}

export type RunRef = { id: string; attempt: number; folder: string; adopted: boolean };

export function makeRoster(start: (run: RunRef) => Tender, ended: (attempt: string) => void): Roster {
  const tenders = new Map<string, Tender>();
  return {
    opening: new Set(),
    tend(run) {
      const key = attemptId(run.id, run.attempt);
      const known = tenders.get(key);
      if (known) return known;
      const tender = start(run);
      tenders.set(key, tender);
      void tender.done.then(() => {
        tenders.delete(key);
        ended(key);
      });
      return tender;
    },
    has: (id) => tenders.has(id),
    all: () => [...tenders.values()],
    count: () => tenders.size,
    cancel(dispatch) {
      for (const tender of tenders.values()) if (tender.dispatch === dispatch) tender.cancel();
    },
    async handOver() {
      for (const tender of tenders.values()) tender.letGo();
      await Promise.all([...tenders.values()].map((tender) => tender.done));
    },
  };
}
