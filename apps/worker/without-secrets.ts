import { redact } from '#vendors/redact';
import type { RunEnd } from './attempt-lines.js';

/** The vendor's words as they may be kept: see redact. */
export function withoutSecrets(end: RunEnd, environment: Readonly<Record<string, string>>): RunEnd {
  const { reading } = end;
  if (reading.ok) return end;
  const words = redact(reading.failure.words, environment);
  return { ...end, reading: { ...reading, failure: { ...reading.failure, words } } };
}

