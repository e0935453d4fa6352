import { describe, expect, test } from 'vitest';
import { answerCheck, anyJson, SCHEMA_MAX_CHARS, type AnswerCheck } from '#vendors';
import { answerValue } from '#vendors/answer-value';

const SCHEMA = {
  type: 'object',
  properties: { verdict: { type: 'string' }, score: { type: 'integer' } },
  required: ['verdict', 'score'],
  additionalProperties: false,
};
const VALUE = { verdict: 'pass', score: 4 };
const JSON_TEXT = JSON.stringify(VALUE);

async function compiled(schema: unknown): Promise<AnswerCheck> {
  const made = await answerCheck(schema);
  if (!made.ok) throw new Error(made.details.join());
  return made.check;
}

describe('finding the value in an answer', () => {
  test.each([
    ['bare', JSON_TEXT],
    ['laid out, with a byte order mark', `\uFEFF\n${JSON.stringify(VALUE, null, 2)}\n`],
    ['fenced', `Here it is:\n\`\`\`json\n${JSON_TEXT}\n\`\`\`\nBye.`],
    ['fenced without a language', `\`\`\`\n${JSON_TEXT}\n\`\`\``],
    ['fenced by tildes', `~~~json\n${JSON_TEXT}\n~~~`],
    [
      'fenced twice, the same',
      `\`\`\`json\n${JSON_TEXT}\n\`\`\`\nAgain:\n\`\`\`json\n{ "score": 4, "verdict": "pass" }\n\`\`\``,
    ],
    ['fenced beside something that does not fit', `\`\`\`json\n{"note":1}\n\`\`\`\n\`\`\`json\n${JSON_TEXT}\n\`\`\``],
    ['in prose', `The verdict is ${JSON_TEXT}, as asked.`],
    ['in prose with braces and quotes', `In {this} "case" it's ${JSON_TEXT} } done`],
  ])('%s', async (_, text) => {
    expect(answerValue(text, await compiled(SCHEMA))).toEqual({ ok: true, value: VALUE });
  });

  test.each([
    ['prose', 'Confirmed.'],
    ['cut', '{"verdict":"pass","sco'],
    ['a wrong type', '{"verdict":"pass","score":"four"}'],
    ['an extra member', '{"verdict":"pass","score":4,"note":"x"}'],
    ['another kind of value', '42'],
    [
      'two different ones that fit',
      '```json\n{"verdict":"pass","score":5}\n```\n```json\n{"verdict":"fail","score":2}\n```',
    ],
    ['two different ones in prose', 'First {"verdict":"pass","score":5}, then {"verdict":"fail","score":2}.'],
    ['whole but unfit beside nothing', '{"verdict":"pass"}'],
  ])('%s is none', async (_, text) => {
    const found = answerValue(text, await compiled(SCHEMA));
    expect(found.ok).toBe(false);
    expect(found.ok || found.problems.length > 0).toBe(true);
  });

  test('says what is wrong, for the repair', async () => {
    const found = answerValue('{"verdict":"pass","score":"four","note":1}', await compiled(SCHEMA));
    expect(found).toEqual({
      ok: false,
      problems: expect.arrayContaining([
        '/score must be integer',
        '(root) must NOT have additional properties ("note")',
      ]) as string[],
    });
  });

  test('takes any JSON where only JSON was asked for, null and scalars too when they are the whole text', () => {
    for (const value of [null, 42, 'text', [], {}])
      expect(answerValue(JSON.stringify(value), anyJson)).toEqual({ ok: true, value });
    expect(answerValue('no JSON here', anyJson).ok).toBe(false);
  });
});

describe('compiling a schema', () => {
  test.each([
    ['2020-12 by default', { prefixItems: [{ type: 'integer' }], items: false }, [1], ['x']],
    [
      '2020-12 by name',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { a: { type: 'integer' } }, $ref: '#/$defs/a' },
      1,
      'x',
    ],
    [
      '2019-09',
      { $schema: 'https://json-schema.org/draft/2019-09/schema', items: [{ type: 'integer' }], additionalItems: false },
      [1],
      [1, 2],
    ],
    [
      'draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { a: { type: 'integer' } },
        items: [{ $ref: '#/definitions/a' }],
        additionalItems: false,
      },
      [1],
      ['x'],
    ],
    [
      'with words of no meaning, and formats as annotations',
      { type: 'string', format: 'date', 'x-note': 1, nullable: false },
      'next Tuesday',
      1,
    ],
  ])('%s', async (_, schema, good, bad) => {
    const check = await compiled(schema);
    expect(check(good)).toEqual([]);
    expect(check(bad).length).toBeGreaterThan(0);
  });

  test.each([
    ['no object', 42],
    ['a list', []],
    ['a wrong type word', { type: 'objekt' }],
    ['a reference that leads outside', { $ref: 'https://example.com/schema.json' }],
    ['a broken pattern', { type: 'string', pattern: '(' }],
    ['one too large for an argument', { description: 'x'.repeat(SCHEMA_MAX_CHARS) }],
  ])('%s is an error with details, not an exception', async (_, schema) => {
    expect(await answerCheck(schema)).toMatchObject({ ok: false, details: [expect.any(String)] });
  });

  test('the same $id twice does not clash', async () => {
    for (let i = 0; i < 2; i++)
      expect((await answerCheck({ $id: 'https://example.com/a', type: 'object' })).ok).toBe(true);
  });
});
