import type { FailureClass } from '#contract';

/** Which CLI wrote the output: its texts and machine words are its own. */
export type VendorCli = 'codex' | 'claude';

/** A window that the vendor's stream called rejected, with the reset it named. */
export type RejectedWindow = {
  /** Milliseconds since the epoch, null when not named. */
  resetsAt: number | null;
  /** The vendor's word: `five_hour`, `seven_day`, `seven_day_opus`, … */
  type: string | null;
};

/**
 * What the vendor's failure channel said: never a word of the agent. All members are empty when it said nothing.
 * `standing` tells how much it weighs: `final` (a terminal event carries it), `pending` (said, but no terminal event
 * followed), `retrying` (the CLI said that it tries again).
 */
export type Channel = {
  standing: 'final' | 'pending' | 'retrying' | 'none';
  /** The vendor's sentences, the most specific first. */
  words: string[];
  /** Machine words in snake case, the most specific first. */
  kinds: string[];
  /** HTTP status the vendor's API answered with. */
  status: number | null;
  /** Reset that stands as a number in an error body, ms since the epoch. */
  resetsAt: number | null;
  rejected: RejectedWindow | null;
};

export const SILENT_CHANNEL: Channel = {
  standing: 'none',
  words: [],
  kinds: [],
  status: null,
  resetsAt: null,
  rejected: null,
};

/** Everything the classifier may know of a run. */
export type RunFacts = {
  cli: VendorCli;
  /** Milliseconds since the epoch. */
  now: number;
  /** Zone of the CLI's environment: a clock time without a zone is meant in it. */
  hostTimeZone: string;
  /** Error code of a start that did not happen (`ENOENT`, …). */
  spawnError: string | null;
  cwdExists: boolean;
  exitCode: number | null;
  signal: string | null;
  /** Our wall clock ended it. */
  timedOut: boolean;
  /** Our silence watchdog ended it. */
  silent: boolean;
  /** We ended it because the vendor refused, or because it would have billed elsewhere. */
  endedByUs: boolean;
  terminal: 'completed' | 'failed' | null;
  /** Of a completed turn: text or value is there, is not there, or does not fit the schema that was asked for. */
  answer: 'usable' | 'empty' | 'unfit';
  /** What is wrong with an `unfit` answer, for people and for the repair try. */
  unfit: string[];
  channel: Channel;
  /** Lines of stderr, and of stdout outside the protocol: evidence of a failed start only. */
  lines: string[];
  /** The agent had begun to answer or act. */
  spoke: boolean;
  /** Every command of the turn died in the CLI's own sandbox. */
  sandboxBroken: boolean;
  /**
   * Key source that the CLI named at its start and that we refused: the run would bill, or has billed, another account.
   */
  foreignBilling: string | null;
  /** Bytes of output, when it passed the total cap and the rest was not read. */
  flooded: number | null;
  /** It wrote JSON lines, and not one of a form we know. */
  unknownFormat: boolean;
};

/** First step for a work item of access read with attempts left and another lane free. */
export type FirstStep = 'none' | 'retry_same' | 'switch' | 'fail';

export type Verdict =
  | { class: 'ok'; action: 'none' }
  | {
      class: FailureClass;
      action: Exclude<FirstStep, 'none'>;
      /** Only for the two limits: ms since the epoch, null when not stated or unreadable. */
      resetsAt?: number | null;
      /** The whole box has it, so another lane here would fail the same way. */
      boxWide?: true;
      /** Not one event was of a form that is known here. */
      drift?: true;
      /** The vendor's words, or ours in their absence; at most 500 characters. */
      words: string;
    };
