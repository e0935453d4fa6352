import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainClaudeUsage, explainCodexSessions } from '#probes/explain';
import { explainFailure, explainTranscript } from '#vendors/explain';
import { expandPadLines } from '#vendors/pad-line';
import { explainDecision } from './decision.js';
import { layOutFiles } from './lay-out-files.js';

export const KINDS = ['decision', 'codex-sessions', 'claude-usage', 'failure', 'transcript'] as const;
export type Kind = (typeof KINDS)[number];

/** One input of each kind → what cmo makes of it, or `{error}`. */
export const explainers: Record<Kind, (input: unknown) => Promise<object>> = {
  decision: (input) => Promise.resolve(explainDecision(input)),
  'codex-sessions': codexSessions,
  'claude-usage': (input) => Promise.resolve(explainClaudeUsage(input)),
  failure: (input) => explainFailure(padded(input)),
  transcript: (input) => explainTranscript(padded(input)),
};

async function codexSessions(input: unknown): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'cmo-explain-'));
  try {
    const files = typeof input === 'object' && input !== null && 'files' in input ? input.files : undefined;
    const laid = await layOutFiles(files, folder);
    return laid.ok ? await explainCodexSessions(input, folder) : { error: laid.error };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function padded(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('stdout' in input) || typeof input.stdout !== 'string')
    return input;
  return { ...input, stdout: expandPadLines(input.stdout) };
}
