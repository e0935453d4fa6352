import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshBox } from './support/run-cli.js';

type Vector = {
  id?: string;
  name?: string;
  input: Record<string, unknown>;
  expected: Record<string, unknown>;
  alsoAccept?: Record<string, unknown>[];
};
const read = (file: string): Vector[] =>
  (JSON.parse(readFileSync(new URL(`../../vectors/${file}.json`, import.meta.url), 'utf8')) as { vectors: Vector[] })
    .vectors;

const box = await freshBox();
mkdirSync(join(box.folder, 'config'), { recursive: true });
writeFileSync(box.configFile, JSON.stringify({ preference: { first: 'claude' }, pressure: { exhausted: 96 } }));

/**
 * Equal as the vectors' README says: times as instants, numbers
 * within 0.01, windows in any order, more members are welcome.
 */
function fits(seen: unknown, expected: unknown, key = ''): boolean {
  if (typeof expected === 'number') return typeof seen === 'number' && Math.abs(seen - expected) <= 0.01;
  if (typeof expected === 'string')
    return (
      seen === expected ||
      (typeof seen === 'string' && /^\d{4}-\d\d-\d\dT/.test(expected) && Date.parse(seen) === Date.parse(expected))
    );
  if (Array.isArray(expected)) {
    if (!Array.isArray(seen) || seen.length !== expected.length) return false;
    const list: unknown[] = seen;
    return key === 'windows'
      ? expected.every((one) => list.some((other) => fits(other, one)))
      : expected.every((one, i) => fits(list[i], one));
  }
  if (typeof expected === 'object' && expected !== null)
    return (
      typeof seen === 'object' &&
      seen !== null &&
      Object.entries(expected).every(([name, value]) => fits((seen as Record<string, unknown>)[name], value, name))
    );
  return seen === expected;
}

test.each([
  ['decision', 'decisions'],
  ['claude-usage', 'claude-usage'],
  ['failure', 'failures'],
  ['transcript', 'transcripts'],
])(
  'cmo explain %s makes of the known inputs what is right, in one array, whatever this box is set to',
  async (kind, file) => {
    const vectors = read(file);
    const { code, stdout, stderr } = await box.cmo(['explain', kind], {
      stdin: JSON.stringify(vectors.map(({ input }) => input)),
      env: { TZ: 'Asia/Kolkata', CMO_PREFER: 'claude' },
    });
    expect([code, stderr]).toEqual([0, '']);
    const answers = JSON.parse(stdout) as unknown[];
    expect(answers).toHaveLength(vectors.length);
    const wrong = vectors.flatMap(({ id, name, expected, alsoAccept = [] }, i) =>
      [expected, ...alsoAccept].some((right) => fits(answers[i], right)) ? [] : [id ?? name],
    );
    expect(wrong).toEqual([]);
  },
);

test('cmo explain codex-sessions lays the files out, pads and all, and leaves nothing behind', async () => {
  const vectors = read('codex-sessions').filter(
    ({ input }) => JSON.stringify(input).length < 100_000 && !/"bytes":\d{8,}/.test(JSON.stringify(input)),
  );
  const temp = join(box.folder, 'tmp');
  mkdirSync(temp);
  writeFileSync(join(box.folder, 'in.json'), JSON.stringify(vectors.map(({ input }) => input)));
  const { code, stdout } = await box.cmo(['explain', 'codex-sessions', 'in.json', '--json'], { env: { TMPDIR: temp } });
  expect(code).toBe(0);
  const answers = JSON.parse(stdout) as unknown[];
  const wrong = vectors.flatMap(({ id, expected, alsoAccept = [] }, i) =>
    [expected, ...alsoAccept].some((right) => fits(answers[i], right)) ? [] : [id],
  );
  expect(wrong).toEqual([]);
  expect(readdirSync(temp)).toEqual([]);
});

test('one object is an array of one; a member that is not understood gives its error in its place, and exit 1', async () => {
  const { code, stdout } = await box.cmo(['explain', 'decision'], { stdin: '{"task": {"role": "jugde"}}' });
  expect([code, JSON.parse(stdout)]).toEqual([1, [{ error: expect.stringContaining('nearest: judge') as string }]]);
  const mixed = await box.cmo(['explain', 'decision', '-'], {
    stdin: '[{"task":{}}, 5, {"tsk":{}}, {"task":{"__proto__":{}}}, {"task":{"complexty":3}}]',
  });
  const answers = JSON.parse(mixed.stdout) as object[];
  expect(mixed.code).toBe(1);
  expect(answers.map((answer) => 'error' in answer)).toEqual([false, true, true, true, true]);
  expect((await box.cmo(['explain', 'failure'], { stdin: 'no json' })).code).toBe(2);
});
