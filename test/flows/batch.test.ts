import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BatchData, ErrorBody, SubmitData } from '#contract';
import { batchSchema } from '#contract/schemas/batch';
import { receiptLineSchema } from '#contract/schemas/receipt';
import { openCmo, type Cmo } from '../support/cmo.js';

let cmo: Cmo;
beforeAll(() => {
  cmo = openCmo({ config: { slots: { account: 8, node: 8, dark: 8 } } });
});
afterAll(() => cmo.close());

const file = (name: string, text: string): string => {
  writeFileSync(join(cmo.work, name), text);
  return name;
};
const lines = (...entries: object[]): string => entries.map((entry) => JSON.stringify(entry)).join('\n');
type BatchAnswer = { schema: string; ok: boolean; data: BatchData; error?: ErrorBody };

test('a batch of lines is queued whole, in its order, under one name; wait, result and ls know it by that name', async () => {
  const name = file(
    'night.jsonl',
    `${lines({ prompt: 'one', role: 'research', contextTokens: 10 }, { prompt: 'two', complexity: 5, labels: { part: 'b' } })}\r\n\r\n${lines({ prompt: 'three [[sim:bad-request]]', 'read-only': true })}\n`,
  );
  const submitted = await cmo.cmo(['submit', '--batch', name, '--batch-name', 'night-1', '--length', 's']);
  expect(submitted.code).toBe(0);
  const { data } = JSON.parse(submitted.stdout) as { data: SubmitData & BatchData };
  expect(data.census).toMatchObject({ total: 3, queued: 3 });
  const ids = data.dispatches.map(({ dispatchId }) => dispatchId);
  expect([...ids].sort()).toEqual(ids);

  const waited = await cmo.cmo(['wait', '--batch', 'night-1']);
  const answer = JSON.parse(waited.stdout) as BatchAnswer;
  expect([waited.code, answer.schema, answer.ok, answer.error?.code]).toEqual([6, 'cmo.batch/1', false, 'CMO_E_BATCH']);
  expect(answer.error?.fix).toMatch(/^`cmo ls --batch \S+ --state failed` shows which, `cmo retry --batch \S+` /);
  expect(batchSchema.safeParse(answer.data).error).toBeUndefined();
  for (const line of cmo.receipts()) expect(receiptLineSchema.safeParse(line).error, line.id).toBeUndefined();
  expect(answer.data).toMatchObject({ batch: 'night-1', census: { total: 3, succeeded: 2, failed: 1, queued: 0 } });
  expect(answer.data.dispatches.map(({ dispatchId, ok }) => [dispatchId, ok])).toEqual(ids.map((id, i) => [id, i < 2]));

  const result = await cmo.cmo(['result', '--human', '--batch', 'night-1']);
  expect([result.code, result.stdout.includes('heard: one'), result.stdout.includes('heard: two')]).toEqual([
    6,
    true,
    true,
  ]);
  expect(result.stderr).toContain('batch night-1: 3 dispatches: 2 succeeded, 1 failed');
  expect((await cmo.ls('--batch', 'night-1')).map(({ id, class: word }) => [id, word])).toEqual(
    [...ids].reverse().map((id) => [id, 'batch']),
  );
  const [one, two, three] = await Promise.all(ids.map((id) => cmo.show(id)));
  expect(one?.record.request).toMatchObject({
    role: 'research',
    contextTokens: 10,
    length: 's',
    maxWaitMs: null,
    batch: 'night-1',
  });
  expect(two?.record.request).toMatchObject({ complexity: 5, labels: { part: 'b' }, length: 's' });
  expect(three?.record.request).toMatchObject({ readOnly: true });
});

test('run takes a folder of dispatch files, waits for all and exits 0 when all succeeded', async () => {
  mkdirSync(join(cmo.work, 'tasks'));
  file('tasks/02.md', 'DISPATCH\nrole: research\nTASK\nsecond');
  file('tasks/01.txt', 'first');
  file('tasks/.hidden', 'not a task');
  const ran = await cmo.cmo(['run', '--batch', 'tasks/', '--complexity', '2']);
  const answer = JSON.parse(ran.stdout) as BatchAnswer;
  expect([ran.code, answer.ok, answer.data.census.succeeded]).toEqual([0, true, 2]);
  expect(answer.data.batch).toMatch(/^tasks-[0-9a-z]{8}$/);
  expect(answer.data.dispatches.map(({ result }) => /heard: (\w+)/.exec(result ?? '')?.[1])).toEqual([
    'first',
    'second',
  ]);
  expect(ran.stderr).toContain('2 dispatches: 2 succeeded');
});

test.each([
  [
    'no JSON',
    '{"prompt": "a"}\n{"prompt": "b",}\n',
    'CMO_E_UNKNOWN_VALUE',
    'bad.jsonl:2: saw no JSON (a comma stands before this })',
  ],
  [
    'an unknown key',
    lines({ prompt: 'a' }, {}, { prompt: 'b', rol: 'judge' }),
    'CMO_E_UNKNOWN_VALUE',
    'bad.jsonl:3 rol: saw an unknown key',
    'nearest: role',
    'bad.jsonl:2 prompt: saw no task',
  ],
  [
    'a key twice',
    '{"prompt": "a", "role": "judge", "role": "review"}',
    'CMO_E_UNKNOWN_VALUE',
    'bad.jsonl:1 role: saw a duplicate key',
  ],
  [
    'one key in two spellings',
    lines({ prompt: 'a', contextTokens: 1, 'context-tokens': 2 }),
    'CMO_E_UNKNOWN_VALUE',
    'bad.jsonl:1 context-tokens: saw a duplicate key',
  ],
  [
    'a wrong value',
    lines({ prompt: 'a' }, { prompt: 'b', complexity: '9' }),
    'CMO_E_UNKNOWN_VALUE',
    'bad.jsonl:2 complexity: saw "9"; allowed: a whole number 1..5; nearest: 5',
  ],
  [
    'an unknown lane',
    lines({ prompt: 'a', pin: 'codx' }),
    'CMO_E_UNKNOWN_VALUE',
    'bad.jsonl:1 pin: saw "codx"',
    'nearest: codex',
  ],
  [
    'a prompt file that is not there',
    lines({ 'prompt-file': 'none.md' }),
    'CMO_E_USAGE',
    "bad.jsonl:1 prompt-file: the file can't be read",
  ],
  [
    'a folder that is not there',
    lines({ prompt: 'a' }, { prompt: 'b', cwd: 'none' }),
    'CMO_E_CWD',
    'bad.jsonl:2: the working directory does not exist',
  ],
  [
    'full access',
    lines({ prompt: 'a', fullAccess: true }),
    'CMO_E_NOT_PERMITTED',
    'bad.jsonl:1 full-access is not allowed here',
  ],
  ['a list', '[{"prompt": "a"}]', 'CMO_E_UNKNOWN_VALUE', 'bad.jsonl:1: saw [{"prompt":"a"}]; allowed: a JSON object'],
  ['nothing', '\n\n', 'CMO_E_USAGE', 'bad.jsonl holds no task'],
  ['too much', `${lines({ prompt: 'a' })}\n`.repeat(1001), 'CMO_E_USAGE', 'holds 1001 tasks; allowed: at most 1000'],
  [
    'a review of nothing, which only the daemon can tell',
    lines({ prompt: 'a' }, { prompt: 'b', reviewOf: 'd-01JE0000000000000000000000' }),
    'CMO_E_NO_DISPATCH',
    'bad.jsonl:2 is refused for it',
    'none of the 2 was recorded',
  ],
  [
    'a schema that is none, which only the daemon can tell',
    lines({ prompt: 'a' }, { prompt: 'b', schema: 'odd.json' }),
    'CMO_E_SCHEMA_FILE',
    'bad.jsonl:2 is refused for it',
  ],
])('with %s nothing of a batch is queued, and its line is named', async (_what, text, code, ...says) => {
  file('bad.jsonl', text);
  file('odd.json', '{"type": "nonsense"}');
  const before = (await cmo.ls()).length;
  const ran = await cmo.cmo(['submit', '--batch', 'bad.jsonl']);
  const { error } = JSON.parse(ran.stdout) as { error: ErrorBody };
  expect([ran.code, error.code]).toEqual([2, code]);
  for (const one of says) expect([error.message, ...(error.details ?? [])].join('\n')).toContain(one);
  expect((await cmo.ls()).length).toBe(before);
});

test('a folder with a file that is not a dispatch file is refused, because that file would run as a task', async () => {
  mkdirSync(join(cmo.work, 'mixed'));
  file('mixed/a.md', 'a');
  file('mixed/verdict.json', '{}');
  const ran = await cmo.cmo(['submit', '--batch', 'mixed', '--json']);
  expect([ran.code, ran.stdout.includes('verdict.json')]).toEqual([2, true]);
});

test('what cannot go together with a batch is refused', async () => {
  file('one.jsonl', lines({ prompt: 'a' }));
  for (const [args, says] of [
    [['run', '--batch', 'one.jsonl', '--prompt', 'x'], '--batch and --prompt together'],
    [['run', '--batch', 'none.jsonl'], "--batch: the file can't be read"],
    [['wait', '--batch', 'none'], 'no batch none'],
    [['wait'], 'saw nothing after it; allowed: ID, or --batch NAME'],
    [['result', 'd-01JE0000000000000000000000', '--batch', 'x'], 'ids and --batch x together'],
  ] as [string[], string][]) {
    const ran = await cmo.cmo(args);
    expect(ran.code, args.join(' ')).toBe(2);
    expect(ran.stderr).toContain(says);
  }
});
