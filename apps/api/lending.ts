/**
 * The slots of agents that wait for agents of their own. An agent that sends `cmo run` and waits uses nothing
 * meanwhile, and where slots are few its own child would wait for its place for ever.
 *
 *   at work ──first question about a child──▶ lent ──no question for GRACE_MS, or the child has ended──▶ at work
 */
export interface Lending {
  /** The agent of this attempt waits. @returns ends it */
  waits(attempt: string): () => void;
  close(): void;
}

/** The gap allowed between two polls of one wait, ms: a long poll is answered now and then, and sent again. */
const GRACE_MS = 2_000;

type Wait = { open: number; timer: NodeJS.Timeout | null };

export function lending(lend: (attempt: string, lent: boolean) => void, graceMs = GRACE_MS): Lending {
  const waits = new Map<string, Wait>();
  return {
    waits(attempt) {
      const known = waits.get(attempt);
      const wait: Wait = known ?? { open: 0, timer: null };
      if (!known) {
        waits.set(attempt, wait);
        lend(attempt, true);
      }
      if (wait.timer !== null) clearTimeout(wait.timer);
      wait.timer = null;
      wait.open++;
      let over = false;
      return () => {
        if (over) return;
        over = true;
        wait.open--;
        if (wait.open > 0 || waits.get(attempt) !== wait) return;
        wait.timer = setTimeout(() => {
          waits.delete(attempt);
          lend(attempt, false);
        }, graceMs);
      };
    },
    close() {
      // What is lent stays so: the next daemon takes it back, or hears the same question again.
      for (const { timer } of waits.values()) if (timer !== null) clearTimeout(timer);
      waits.clear();
    },
  };
}
