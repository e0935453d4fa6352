import { expect, test } from 'vitest';
import { DEFAULT_CONFIG } from '#contract';
import { schemaAsGiven, schemaRuling, schemaRulings, schemaVerdict } from '#vendors/schema-rules';

const closed = (properties: Record<string, unknown>, more: object = {}): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: 'string' };

test.each([
  ['a closed object', closed({ verdict: text, score: { type: 'integer', minimum: 0, maximum: 10 } })],
  [
    'lists, nullables, references, formats and alternatives inside',
    closed(
      {
        list: { type: 'array', items: { $ref: '#/$defs/one' }, minItems: 1 },
        maybe: { type: ['string', 'null'] },
        when: { type: 'string', format: 'date' },
        either: { anyOf: [text, { type: 'null' }] },
      },
      { $defs: { one: closed({ a: text }) }, $schema: 'https://json-schema.org/draft/2020-12/schema', title: 't' },
    ),
  ],
])('both vendors take %s', (_what, schema) => {
  expect(schemaRuling('codex', schema)).toEqual({ refused: [], doubtful: [] });
  expect(schemaRuling('claude', schema)).toEqual({ refused: [], doubtful: [] });
});

test.each([
  ['a list at the top', { type: 'array', items: text }, '(root): type must be "object"'],
  ['alternatives at the top', closed({ a: text }, { anyOf: [{}] }), '(root): anyOf is not permitted at the top'],
  ['a keyword of composition', closed({ a: { allOf: [text] } }), 'properties.a: allOf is not permitted'],
  [
    'oneOf at the top',
    closed({ a: text }, { oneOf: [{ type: 'object' }] }),
    '(root): oneOf is not permitted at the top',
  ],
  ['not', closed({ a: { not: text } }), 'properties.a: not is not permitted'],
  ['a part without a type', closed({ a: {} }), 'properties.a: a type is required'],
  ['a part that is true', closed({ a: true }), 'properties.a: true and false are no schemas there'],
  ['a list of anything', closed({ a: { type: 'array' } }), 'properties.a: items is required'],
  [
    'what a reference leads to',
    closed({ a: { $ref: '#/$defs/b' } }, { $defs: { b: closed({ c: {} }) } }),
    '$defs.b.properties.c: a type is required',
  ],
])('OpenAI refuses %s, and its place is named', (_what, schema, line) => {
  expect(schemaRuling('codex', schema).refused.join('\n')).toContain(line);
});

test.each([
  ['a list at the top', { type: 'array' }, '(root): type must be "object"'],
  ['a top without a type', { title: 'x' }, '(root): type must be "object"'],
  ['alternatives at the top', { type: 'object', oneOf: [{}] }, '(root): oneOf is not permitted at the top'],
  [
    'a property with a strange name',
    closed({ a: { type: 'object', properties: { 'two words': text } } }),
    'properties.a: the property name "two words" must be',
  ],
])('Anthropic refuses %s', (_what, schema, line) => {
  expect(schemaRuling('claude', schema).refused.join('\n')).toContain(line);
});

test('Anthropic takes what is open, optional or composed inside', () => {
  expect(
    schemaRuling('claude', { type: 'object', properties: { a: {}, b: { oneOf: [text] }, c: { type: 'array' } } }),
  ).toEqual({ refused: [], doubtful: [] });
});

test('codex is given an open schema closed: what fits that fits the one that was asked for', () => {
  const open = {
    properties: {
      a: text,
      b: { type: ['object', 'null'], properties: { c: { oneOf: [text, { type: 'null' }] } }, required: [] },
      list: { type: 'array', items: { type: 'object', properties: { d: text } } },
    },
    required: ['a'],
    $defs: { e: { type: 'object' } },
  };
  expect(schemaRuling('codex', open)).toEqual({
    refused: [],
    doubtful: ['$defs.e: no property is named, so only an empty object can be answered there'],
  });
  expect(JSON.parse(schemaAsGiven('codex', JSON.stringify(open)))).toEqual({
    type: 'object',
    properties: {
      a: text,
      b: {
        type: ['object', 'null'],
        properties: { c: { anyOf: [text, { type: 'null' }] } },
        required: ['c'],
        additionalProperties: false,
      },
      list: {
        type: 'array',
        items: { type: 'object', properties: { d: text }, required: ['d'], additionalProperties: false },
      },
    },
    required: ['a', 'b', 'list'],
    additionalProperties: false,
    $defs: { e: { type: 'object', properties: {}, required: [], additionalProperties: false } },
  });
  expect(JSON.parse(schemaAsGiven('claude', JSON.stringify(open)))).toEqual({ type: 'object', ...open });
  const kept = closed(
    { a: text },
    { properties: JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as object },
  );
  expect(
    Object.keys((JSON.parse(schemaAsGiven('codex', JSON.stringify(kept))) as { properties: object }).properties),
  ).toEqual(['__proto__', 'constructor']);
});

test('what was documented only for some models, or is a limit, is doubted and not refused', () => {
  const many = closed({
    a: { enum: Array.from({ length: 1_001 }, (_, i) => i) },
    b: { type: 'array', items: text, uniqueItems: true },
  });
  expect(schemaRuling('codex', many)).toEqual({
    refused: [],
    doubtful: [
      'properties.a: without a type it may be refused',
      'properties.b: uniqueItems may be refused',
      '1001 enum values; more than 1000 may be refused',
    ],
  });
});

test('a schema has no lane only if every permitted lane refuses it; otherwise the refusing lanes are reported', () => {
  const { lanes } = DEFAULT_CONFIG;
  const verdict = (schema: object, of = lanes): ReturnType<typeof schemaVerdict> =>
    schemaVerdict(of, schemaRulings(of, schema));
  expect(verdict(closed({ a: text }))).toEqual({ none: false, refusedBy: [], refused: [], warnings: [] });
  const composed = closed({ a: { allOf: [text] } });
  expect(verdict(composed)).toMatchObject({
    none: false,
    refusedBy: ['codex'],
    warnings: [
      'codex is left out: it does not take this schema',
      "codex's structured output: properties.a: allOf is not permitted",
    ],
  });
  expect(
    verdict(
      composed,
      lanes.filter(({ id }) => id === 'codex'),
    ),
  ).toMatchObject({ none: true });
  expect(verdict({ type: 'object' })).toMatchObject({
    none: false,
    refusedBy: [],
    warnings: [
      "codex's structured output: (root): no property is named, so only an empty object can be answered there",
    ],
  });
  expect(verdict({ type: 'array', items: text })).toMatchObject({
    none: true,
    refused: [
      'codex\'s structured output: (root): type must be "object"',
      'claude\'s structured output: (root): type must be "object"',
    ],
  });
});
