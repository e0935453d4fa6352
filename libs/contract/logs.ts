/** One line of what an agent did, for people; `note` is neither work nor trouble. */
export type LogLine = { kind: 'command' | 'edit' | 'tool' | 'message' | 'result' | 'error' | 'note'; text: string };

/** A part of the output of one attempt, from a byte on. */
export type LogsData = {
  id: string;
  /** Which attempt these lines are of; null: none has started yet. */
  attempt: number | null;
  lane: string | null;
  model: string | null;
  /** The last one that was started. */
  lastAttempt: number | null;
  /** Where to read on. */
  next: number;
  /** This attempt will say no more. */
  attemptEnded: boolean;
  /** Nor will a later one. */
  dispatchEnded: boolean;
  lines: LogLine[];
  /** In place of `lines` when the CLI's own output was asked for. */
  raw?: string;
};
