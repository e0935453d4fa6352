import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DispatchRequest, ErrorBody } from '#contract';
import { openApi, type TestApi } from './api.js';

let it: TestApi;
beforeAll(async () => {
  it = await openApi();
});
afterAll(() => it.close());

const object = (properties: object): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const COMPOSED = object({ a: { allOf: [{ type: 'string' }] } });

async function refusal(change: Partial<DispatchRequest>): Promise<ErrorBody> {
  const answer = await it.answer('POST', '/v1/dispatches', { dispatches: [it.request(change)] });
  if (answer.ok) throw new Error('it was taken');
  return answer.error;
}

test.each([
  ['no JSON Schema', { type: 'nonsense' }],
  ['a keyword with a wrong value', { type: 'object', required: 'a' }],
  ['a reference to nothing', { $ref: '#/$defs/none' }],
  ['a reference to somewhere else', { $ref: 'https://example.com/x.json' }],
  ['a list', []],
  ['more than a CLI can be given', object({ a: { type: 'string', description: 'x'.repeat(110_000) } })],
])('%s is refused before anything is recorded', async (_what, schema) => {
  const error = await refusal({ schema });
  expect(error.code).toBe('CMO_E_SCHEMA_FILE');
  expect((error.details ?? []).join('').length).toBeGreaterThan(3);
});

test('a schema that the vendor of every permitted lane refuses is refused, by name and place', async () => {
  expect(await refusal({ schema: COMPOSED, pin: 'codex' })).toMatchObject({
    code: 'CMO_E_SCHEMA_FILE',
    message: 'no permitted lane takes this schema',
    details: ["codex's structured output: properties.a: allOf is not permitted"],
  });
  expect(await refusal({ schema: COMPOSED, independentOf: 'anthropic', strictIndependence: true })).toMatchObject({
    code: 'CMO_E_SCHEMA_FILE',
  });
  expect((await refusal({ schema: { type: 'array', items: { type: 'string' } } })).details).toHaveLength(2);
});

test('one that only some lanes refuse goes to the others, permanently, and its sender is told', async () => {
  const envelope = await it.submit({ schema: COMPOSED });
  expect(envelope).toMatchObject({
    lane: 'claude',
    warnings: [
      'codex is left out: it does not take this schema',
      "codex's structured output: properties.a: allOf is not permitted",
    ],
  });
  const record = await it.records.read(envelope.dispatchId);
  expect(record?.request).toMatchObject({ schemaRefusedBy: ['codex'] });
  expect(record?.decision).toMatchObject({
    notes: ['schema-refused:codex'],
    factors: { schemaRefusedBy: ['codex'] },
    fallback: null,
  });
  expect(record?.decision.candidates.find(({ lane }) => lane === 'codex')?.why).toContain(
    'its structured output refuses the schema',
  );
});

test('an open schema is taken by both, and stays as it was sent', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] };
  const envelope = await it.submit({ schema });
  expect(envelope).toMatchObject({ lane: 'codex' });
  expect(envelope).not.toHaveProperty('warnings');
  expect(JSON.parse((await it.records.blob(envelope.dispatchId, 'schema')) ?? '')).toEqual(schema);
});
