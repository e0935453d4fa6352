import { readFile } from 'node:fs/promises';
import { runFiles } from '#runner';
import { redact } from '#vendors/redact';
import type { RunEnd } from './attempt-lines.js';

/** The vendor's words as they may be kept: see redact. The prompt is the one that this attempt was given. */
export async function withoutSecrets(
  end: RunEnd,
  environment: Readonly<Record<string, string>>,
  folder: string,
): Promise<RunEnd> {
  const { reading } = end;
  if (reading.ok) return end;
  const prompt = await readFile(runFiles(folder).prompt, 'utf8').catch(() => '');
  const words = redact(reading.failure.words, environment, prompt);
  return { ...end, reading: { ...reading, failure: { ...reading.failure, words } } };
}
