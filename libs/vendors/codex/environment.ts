/**
 * Nothing: the retries of the built-in provider can't be bounded from outside, so the reader asks for an end at the
 * first 429 instead, and `exec` neither updates itself nor asks.
 */
export const CODEX_ENV: Record<string, string> = {};
