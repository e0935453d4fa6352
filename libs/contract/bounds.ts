/**
 * Bounds of what comes from outside. A number that passes them can be added to a clock, handed to a timer or summed
 * without a second look. Times in milliseconds.
 */
export type NumberRule = { readonly min: number; readonly max: number; readonly whole: boolean };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The numbers of a request. Generous for work, too small for a slip of digits. */
export const NUMBERS = {
  complexity: { min: 1, max: 5, whole: true },
  /** No model reads more than a few million tokens. */
  contextTokens: { min: 0, max: 10_000_000, whole: true },
  /** Wall clock of one attempt; setTimeout itself wraps at 24.8 days. */
  timeoutMs: { min: 1_000, max: 7 * DAY, whole: true },
  attempts: { min: 1, max: 100, whole: true },
  maxWaitMs: { min: 0, max: 31 * DAY, whole: true },
  ttlMs: { min: 1, max: 366 * DAY, whole: true },
} as const satisfies Record<string, NumberRule>;

export const BOUNDS = {
  /** Dispatches in one submit; all or none. */
  dispatches: 1_000,
  /** Characters of a prompt that claude takes on stdin (10 MB); past it the CLI leaves with exit 1. */
  promptClaude: 10_000_000,
  /** Characters of a prompt that codex takes; past it it leaves with exit 1 and no failure event. */
  promptCodex: 1_048_576,
  /** Characters of a JSON Schema, which is part of the prompt and, for one CLI, of argv (128 KiB a string). */
  schema: 100_000,
  /** Linux takes at most 128 KiB for one variable. */
  envValue: 131_000,
  word: 256,
  /** Of a key that makes a submit be taken once. */
  once: 200,
  path: 4_096,
  /** Bytes of one HTTP body: several of the largest prompts, or 1,000 of a normal size. */
  body: 64 * 1024 * 1024,
  /** Rows of one listing. */
  rows: 10_000,
  /** A long poll answers after this at the latest; the client asks again. */
  waitMs: 600_000,
  /** A dispatch of depth 3 (an agent's agent's agent's agent) is refused. */
  depth: 2,
} as const;
