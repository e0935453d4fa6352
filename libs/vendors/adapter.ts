import type { Access, RunReading } from '#contract';

/** Where the files of one attempt lie; paths are absolute. */
export type RunFiles = { folder: string; lastMessage: string; schema: string | null };

export type ArgvInput = {
  model: string;
  effort: string | null;
  access: Access;
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

/** What the stream says while it runs. */
export type StreamSignal =
  | { kind: 'session'; id: string }
  /** Anything that proves the agent moves (pings, retry and reconnect lines do not). */
  | { kind: 'progress' }
  /** The final event was seen: the process has a short grace to leave. */
  | { kind: 'final' }
  /** End the run now: the vendor refused (429) and the CLI would go on retrying. */
  | { kind: 'refused'; words: string }
  /** A quota reading that came with the stream, raw. */
  | { kind: 'rate-limit-event'; info: unknown }
  /** The run would bill elsewhere: an API key source is named at start. End it. */
  | { kind: 'foreign-billing'; source: string };

export type ExitFacts = {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  silent: boolean;
  /** We ended it because of a `refused` signal. */
  endedByUs: boolean;
  spawnError: string | null;
  cwdExists: boolean;
  /** Milliseconds. */
  now: number;
  hostTimeZone: string;
  /** codex: the text of the last-message file, when it is of this attempt. */
  lastMessage: string | null;
  /** codex: `task_complete.error.codex_error_info` from the session file named by the thread id, when found. */
  sessionError: unknown;
  schema: unknown;
};

/** An incremental reader of one run's output; bounded memory whatever comes in. */
export interface RunReader {
  out(chunk: Uint8Array): StreamSignal[];
  err(chunk: Uint8Array): void;
  /** Reads what is left and says what the run came to. */
  finish(exit: ExitFacts): RunReading;
}

export interface VendorAdapter {
  kind: 'codex' | 'claude';
  argv(input: ArgvInput): string[];
  /** Fixed variables of this CLI (bounded retries, self-update off). */
  env: Record<string, string>;
  reader(): RunReader;
}
