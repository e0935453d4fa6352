import type { DispatchClass, Length, Role } from './words.js';

/**
 * What a front door sends for one dispatch. The client makes the id, so that sending the same thing again is harmless:
 * the same id returns the record.
 */
export type DispatchRequest = {
  id: string;
  prompt: string;
  /** Absolute; empty for work that any node may do. */
  cwd: string;
  /**
   * The submitter's own environment, already reduced to the allow-list: an agent finds the toolchain its sender has.
   */
  env: Record<string, string>;
  role?: Role;
  complexity?: number;
  length?: Length;
  contextTokens?: number;
  /** A JSON Schema (2020-12), inline. */
  schema?: unknown;
  write?: boolean;
  readOnly?: boolean;
  independentOf?: string;
  /**
   * The dispatch whose output this one grades: independent of the vendor that really made it. Replaces independentOf.
   */
  reviewOf?: string;
  strictIndependence?: boolean;
  pin?: string;
  model?: string;
  /** Wall clock of one attempt, ms. Default 1,200,000. */
  timeoutMs?: number;
  /** Replaces the budgets per class. */
  attempts?: number;
  failover?: boolean;
  fullAccess?: boolean;
  retryWrites?: boolean;
  /** The only writer in its folder on its node while it runs. */
  exclusive?: boolean;
  class?: DispatchClass;
  /** How long it may wait for quota, ms; null = without end. `run` sends 0 unless told, `submit` null. */
  maxWaitMs?: number | null;
  /** The same key with the same task, sent again, is the same dispatch; known until 7 days after its end. */
  once?: string;
  /** Not started before: an ISO time with its zone, or a duration from the submit on (`90s`, `15m`, `8h`, `2d`). */
  notBefore?: string;
  /** Expires unless it is started within this long after the submit, ms. */
  ttlMs?: number;
  /** Over by then, running or not: a time or a duration, as notBefore. */
  deadline?: string;
  /**
   * Pure text work: no folder, read access, on whichever node has room first. Absent: on the node that has the folder.
   */
  node?: 'any';
  batch?: string;
  labels?: Record<string, string>;
  /** The attempt inside which it was submitted (`CMO_ATTEMPT`), and how deep. */
  parent?: string;
};

export const DEFAULT_TIMEOUT_MS = 1_200_000;
