import { isObject, type JsonObject } from './json.js';

/** A vendor's verdict on a schema for structured output, as lines that name the place. */
export type SchemaRuling = {
  /** It is answered with an error before a turn begins. */
  refused: string[];
  /** It may be. */
  doubtful: string[];
};

export type SchemaNode = {
  schema: unknown;
  path: string[];
  /** Levels of objects above it. */
  depth: number;
};

const ONE = [
  'items',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LISTED = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];

/** The schemas that stand directly in one, with where. `additionalProperties: false` is a rule, not a schema. */
function parts(schema: JsonObject): { key: string; name: string | null; part: unknown }[] {
  const named = (key: string): { key: string; name: string; part: unknown }[] =>
    typeof schema[key] === 'object' && schema[key] !== null
      ? Object.entries(schema[key]).map(([name, part]) => ({ key, name, part: part as unknown }))
      : [];
  const rule = (key: string): boolean => typeof schema[key] === 'boolean' && /^(additional|unevaluated)/.test(key);
  return [
    ...ONE.filter((key) => Object.hasOwn(schema, key) && !rule(key)).map((key) => ({
      key,
      name: null,
      part: schema[key],
    })),
    ...LISTED.filter((key) => Array.isArray(schema[key])).flatMap(named),
    ...NAMED.filter((key) => isObject(schema[key])).flatMap(named),
  ];
}

/**
 * Every schema within a schema, the whole one first. References are not followed: their targets are in the same
 * document.
 */
export function* subschemas(schema: unknown, path: string[] = [], depth = 0): Generator<SchemaNode> {
  yield { schema, path, depth };
  if (!isObject(schema)) return;
  for (const { key, name, part } of parts(schema))
    yield* subschemas(
      part,
      name === null ? [...path, key] : [...path, key, name],
      key === 'properties' ? depth + 1 : depth,
    );
}

/** The schema with each object schema in it, innermost first, replaced by what `change` makes of it. */
export function mapped(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const inner = (part: unknown): unknown => (isObject(part) ? mapped(part, change) : part);
  const copy: JsonObject = { ...schema };
  for (const { key, name, part } of parts(schema)) {
    if (name === null) copy[key] = inner(part);
    else if (Array.isArray(copy[key])) copy[key] = (schema[key] as unknown[]).map(inner);
    else
      copy[key] = Object.fromEntries(
        Object.entries(schema[key] as JsonObject).map(([member, one]) => [member, inner(one)]),
      );
  }
  return change(copy);
}

/** `properties.items.verdict`; `(root)` for the whole. */
export function placeOf(path: readonly string[]): string {
  return path.length === 0 ? '(root)' : path.join('.').slice(0, 200);
}
