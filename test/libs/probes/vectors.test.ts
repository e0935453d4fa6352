import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layOutFiles } from '#cli/explain/lay-out-files';
import { explainClaudeUsage, explainCodexSessions } from '#probes';

type Expected = { windows: { kind: string; usedPercent: number; resetsAt: string | null; scope?: string }[] } & Record<
  string,
  unknown
>;
type Vector = { id: string; input: Record<string, unknown>; expected: Expected; alsoAccept?: Expected[] };

const vectorsOf = (name: string): Vector[] =>
  (JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), 'utf8')) as { vectors: Vector[] })
    .vectors;

/**
 * As test/vectors/README.md compares: instants, numbers within 0.01, windows without order, only the expected members.
 */
function normal(value: Record<string, unknown>, asked: Expected): unknown {
  const windows = (value['windows'] as Expected['windows']).map((window) => ({
    ...window,
    usedPercent: Math.round(window.usedPercent * 100) / 100,
    resetsAt: window.resetsAt === null ? null : Date.parse(window.resetsAt),
  }));
  windows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const until = value['blockedUntil'];
  const rest = Object.fromEntries(Object.keys(asked).map((key) => [key, value[key]]));
  return { ...rest, windows, blockedUntil: typeof until === 'string' ? Date.parse(until) : until };
}

function check(answer: Record<string, unknown>, { expected, alsoAccept = [] }: Vector): void {
  const right = [expected, ...alsoAccept].some(
    (one) => JSON.stringify(normal(answer, one)) === JSON.stringify(normal(one, one)),
  );
  if (!right) expect(normal(answer, expected)).toEqual(normal(expected, expected));
}

describe('every codex-sessions vector is answered right, each in a folder of its own', () => {
  it.each(['codex-sessions', 'own-codex-sessions'].flatMap(vectorsOf).map((vector) => [vector.id, vector] as const))(
    '%s',
    async (_, vector) => {
      const folder = await mkdtemp(join(tmpdir(), 'cmo-probes-'));
      try {
        expect(await layOutFiles(vector.input['files'], folder)).toMatchObject({ ok: true });
        check(await explainCodexSessions(vector.input, folder), vector);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

describe('every claude-usage vector is answered right', () => {
  it.each(['claude-usage', 'own-claude-usage'].flatMap(vectorsOf).map((vector) => [vector.id, vector] as const))(
    '%s',
    (_, vector) => {
      check(explainClaudeUsage(vector.input) as Record<string, unknown>, vector);
    },
  );
});
