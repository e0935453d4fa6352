import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { expandPadLines, explainFailure, explainTranscript } from '#vendors';

type Vector = {
  id: string;
  why?: string;
  input: Record<string, unknown>;
  expected: Record<string, unknown>;
  alsoAccept?: Record<string, unknown>[];
};

const vectors = (file: string) =>
  (JSON.parse(readFileSync(new URL(`../../vectors/${file}`, import.meta.url), 'utf8')) as { vectors: Vector[] })
    .vectors;

/** At least the members of what is expected; times as instants. */
function fits(answer: Record<string, unknown>, expected: Record<string, unknown>): boolean {
  return Object.entries(expected).every(([name, value]) => {
    const got = answer[name];
    if (name === 'resetsAt' && typeof value === 'string')
      return typeof got === 'string' && Date.parse(got) === Date.parse(value);
    return JSON.stringify(got) === JSON.stringify(value);
  });
}

describe.each([
  ['failures.json', explainFailure],
  ['own-failures.json', explainFailure],
  ['transcripts.json', explainTranscript],
  ['own-transcripts.json', explainTranscript],
] as const)('the right answers of %s', (file, explain) => {
  test.each(vectors(file).map((vector) => [vector.id, vector.why ?? '', vector] as const))(
    '%s: %s',
    async (_id, _why, vector) => {
      const stdout =
        typeof vector.input['stdout'] === 'string' ? expandPadLines(vector.input['stdout']) : vector.input['stdout'];
      const answer = (await explain({ ...vector.input, stdout })) as Record<string, unknown>;
      if (!fits(answer, vector.expected) && !(vector.alsoAccept ?? []).some((other) => fits(answer, other)))
        expect(answer).toEqual(vector.expected);
    },
  );

  test.each(['America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'])(
    'says the same where the process itself is in %s',
    async (zone) => {
      const answers = () => Promise.all(vectors(file).map(({ input }) => explain(input)));
      vi.stubEnv('TZ', 'UTC');
      const inUtc = await answers();
      vi.stubEnv('TZ', zone);
      expect(new Date(0).getTimezoneOffset()).not.toBe(0);
      expect(await answers()).toEqual(inUtc);
    },
  );

  test('reads every vector the same in pieces of seven bytes', async () => {
    for (const { input } of vectors(file)) {
      if (String(input['stdout']).includes('PAD_LINE')) continue;
      expect(await explain({ ...input, chunkBytes: 7 })).toEqual(await explain({ ...input, chunkBytes: 1 << 20 }));
    }
  });
});
