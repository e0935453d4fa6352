import type { Access, RunReading } from '#contract';

/** Where the files of one attempt lie; paths are absolute. */
export type RunFiles = { folder: string; lastMessage: string; schema: string | null };

export type ArgvInput = {
  model: string;
  effort: string | null;
  access: Access;
  /** No sandbox at all; counts for access write only, a reader stays a reader. */
  fullAccess: boolean;
  cwd: string;
  files: RunFiles;
  /** The schema's text, for the CLI that takes it inline. */
  schemaText: string | null;
  /** A fresh uuid: the session id for the CLI that lets us choose it. */
  newSession: string;
  /** Resume this vendor session instead of starting a new one. */
  resume: string | null;
  /** Rules for a claude reader's Bash. */
  readCommands: string[];
};

/** What the variables of a CLI depend on. `root`: the child will run as uid 0. */
export type EnvInput = { access: Access; root: boolean };

/** What the stream says while it runs. */
export type StreamSignal =
  /** The vendor's session id, once, as soon as it is known. */
  | { kind: 'session'; id: string }
  /**
   * Anything that proves the agent moves (pings, retry and reconnect lines do not). After `final` it takes that back:
   * another turn began.
   */
  | { kind: 'progress' }
  /** The final event was seen: the process has a short grace to leave. */
  | { kind: 'final' }
  /** End the run now: the vendor refused (429) and the CLI would go on retrying. Once. */
  | { kind: 'refused'; words: string }
  /** A quota reading that came with the stream, raw. */
  | { kind: 'rate-limit-event'; info: unknown }
  /**
   * The run would bill elsewhere: an API key source is named at start. End it, unless the lane's own env named that
   * endpoint.
   */
  | { kind: 'foreign-billing'; source: string }
  /** More output than is ever read: end the run. Once. */
  | { kind: 'flood'; bytes: number };

/** Says what is wrong with a value, one line each; none: it fits. Made by `answerCheck`. */
export type AnswerCheck = (value: unknown) => string[];

export type ExitFacts = {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  silent: boolean;
  /** We ended it because it wrote more than is ever read. */
  flooded?: boolean;
  /** We ended it because of a `refused` or `foreign-billing` signal. */
  endedByUs: boolean;
  /**
   * Of the two it was `foreign-billing`: on a lane that may bill so, the key source that the CLI names means nothing.
   */
  endedForBilling?: boolean;
  /** Error code of a start that did not happen. */
  spawnError: string | null;
  cwdExists: boolean;
  /** Milliseconds. */
  now: number;
  /** Zone of the child's environment (UTC for ours). */
  hostTimeZone: string;
  /** codex: the text of the last-message file, when it is of this attempt. */
  lastMessage: string | null;
  /** codex: `task_complete.error.codex_error_info` of this turn in the session file (`sessionFacts`), when found. */
  sessionError: unknown;
  /** Of the schema that was asked for, null when none was. */
  check: AnswerCheck | null;
};

/** What a run has done so far, for the record while it runs and for its receipt. */
export type RunProgress = {
  session: string | null;
  model: string | null;
  cliVersion: string | null;
  /** Trips to the model (claude) or finished items (codex). */
  steps: number;
  /** Calls per tool name; at most 50 names. */
  tools: Record<string, number>;
  /** Called and not yet back: a long test run is silent without being stuck. */
  toolsRunning: number;
  outputTokens: number;
};

/** An incremental reader of one run's output; bounded memory whatever comes in. */
export interface RunReader {
  out(chunk: Uint8Array): StreamSignal[];
  err(chunk: Uint8Array): void;
  progress(): RunProgress;
  /** Reads what is left and says what the run came to. Called once. */
  finish(exit: ExitFacts): RunReading;
}

/**
 * The output format that was asked for. We ask for `stream` (stream-json, json); the others are of other generations.
 */
export type OutputMode = 'stream' | 'text';

export type ReaderOptions = { mode?: OutputMode; lineBytes?: number; totalBytes?: number };

export interface VendorAdapter {
  kind: 'codex' | 'claude';
  argv(input: ArgvInput): string[];
  /** Fixed variables of this CLI (bounded retries, self-update off). */
  env: Record<string, string>;
  /** `env` and what this run needs besides. */
  envFor(input: EnvInput): Record<string, string>;
  reader(options?: ReaderOptions): RunReader;
  /** Whether the files of a session are there, so that it can be resumed. @param environment the child's own */
  hasSession(environment: Readonly<Record<string, string>>, session: string): Promise<boolean>;
}
