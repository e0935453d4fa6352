/**
 * What a running attempt has done so far, as its tender saw it at most three seconds ago. It lies beside the record's
 * state and never decides anything.
 */
export type Progress = {
  attempt: number;
  /** The vendor's session, as soon as it is known. */
  session: string | null;
  /** Trips to the model, or finished items. */
  steps: number;
  /** Calls per tool. */
  tools: Record<string, number>;
  /** Called and not yet back. */
  toolsRunning: number;
  outputTokens: number;
  /** Other attempts that write in its folder at the same time; absent: none. */
  beside?: string[];
  /** When it last showed life, ms by Redis' clock: what came since is its silence. */
  movedAt: number;
};

/** The same for a reader without that clock. */
export type ShownProgress = Omit<Progress, 'attempt' | 'movedAt'> & { silentMs: number };

export function shownProgress({ attempt: _attempt, movedAt, ...rest }: Progress, now: number): ShownProgress {
  return { ...rest, silentMs: Math.max(now - movedAt, 0) };
}
