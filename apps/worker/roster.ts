import { attemptId } from '#contract';
import type { PreparedRun } from './prepare-run.js';
import type { Tender } from './tender.js';

/** The runs of this node that have a tender, and the tickets being opened: what the scan must pass over. */
export interface Roster {
  /** A ticket's opening begins: before the record is read, until a tender has taken over or nothing came of it. */
  open(dispatch: string, attempt: number): Opening;
  close(opening: Opening): void;
  isOpening(id: string): boolean;
  /** Nothing runs here, and nothing is about to. */
  idle(): boolean;
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

/** `cancelAsked`: a cancel came while there was no tender yet that could have heard it. */
export type Opening = { id: string; dispatch: string; cancelAsked: boolean };

export type RunRef = {
  id: string;
  attempt: number;
  folder: string;
  adopted: boolean;
  /** What whoever made the folder just now still has in hand; without it everything is read from files and record. */
  start?: PreparedRun['start'];
  cancelAsked?: boolean;
};

export function makeRoster(start: (run: RunRef) => Tender, ended: (attempt: string) => void): Roster {
  const tenders = new Map<string, Tender>();
  const openings = new Set<Opening>();
  return {
    open(dispatch, attempt) {
      const opening = { id: attemptId(dispatch, attempt), dispatch, cancelAsked: false };
      openings.add(opening);
      return opening;
    },
    close: (opening) => openings.delete(opening),
    isOpening: (id) => [...openings].some((opening) => opening.id === id),
    idle: () => tenders.size === 0 && openings.size === 0,
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
      for (const opening of openings) if (opening.dispatch === dispatch) opening.cancelAsked = true;
    },
    async handOver() {
      for (const tender of tenders.values()) tender.letGo();
      await Promise.all([...tenders.values()].map((tender) => tender.done));
    },
  };
}
