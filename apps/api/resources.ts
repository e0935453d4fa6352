import type { Config, GcData, HealthData, LimitsData, ReceiptLine, StatusData } from '#contract';
import type { Controls, Gate } from '#gate';
import type { DispatchQueue } from '#queue';
import type { Changes, Records } from '#store';
import type { Disk } from './disk.js';

/** The few calls of a pino logger that are used. Never given a prompt, a result or a value of an environment. */
export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** What is at a path, for a dispatch that wants to work there. */
export type PlaceKind = 'folder' | 'missing' | 'relative' | 'not-a-folder' | 'unreadable';

/**
 * Whole lines of a run's stdout. `ended`: after `next` nothing will come. `errors`: the end of its stderr, once it has
 * ended.
 */
export type OutputPart = {
  kind: 'codex' | 'claude';
  lane: string;
  model: string;
  text: string;
  next: number;
  ended: boolean;
  errors: string[];
};

/** Everything the HTTP interface touches; the daemon wires it, tests hand in their own. */
export type ApiResources = {
  config: Config;
  records: Records;
  changes: Changes;
  queue: DispatchQueue;
  gate: Gate;
  controls: Controls;
  log: Log;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Which lanes have a CLI on the submitter's PATH: the agent is started with that PATH. */
  installed(path: string | undefined): Promise<Record<string, boolean>>;
  place(path: string): Promise<PlaceKind>;
  /** Name of the repository (else the folder) that holds a path. */
  project(path: string): Promise<string>;
  /** Why a JSON Schema can't be used; empty when it can. */
  schemaProblems(schema: unknown): Promise<string[]>;
  /** Variables that no agent gets: another billing path, or ours to set. */
  refusedVariables(env: Record<string, string>): { name: string; why: string }[];
  /** Lines of one dispatch, its attempts first. */
  receipts(dispatch: string): Promise<ReceiptLine[]>;
  /** What an attempt's CLI wrote, whole lines from a byte on; null: its run folder is not on this node. */
  output(attempt: string, from: number): Promise<OutputPart | null>;
  /** The agent of an attempt waits for one of its own, or does no more: its slot is another's meanwhile. */
  lend(attempt: string, lent: boolean): void;
  /** Writes the line of a dispatch that this request has ended in the queue. */
  writeLine(dispatch: string): Promise<void>;
  disk(): Promise<Disk>;
  writeLines(dispatches: readonly string[]): Promise<void>;
  /** What is known of every account's windows: as last read, or after asking the vendors again. */
  limits: { read(): Promise<LimitsData>; refresh(): Promise<LimitsData> };
  daemon: {
    /** What only the process knows of itself. */
    about(): Promise<Pick<StatusData, 'pid' | 'service' | 'startedAt' | 'running' | 'redis'>>;
    /** Whether work moves here; no problems: it does. Answers from memory. */
    health(): HealthData;
    /** Called after the answer was sent. */
    shutdown(options: { kill: boolean; keepRedis: boolean }): void;
    /** Removes what is kept no longer, or only says what. */
    collectGarbage(dryRun: boolean): Promise<GcData>;
  };
};
