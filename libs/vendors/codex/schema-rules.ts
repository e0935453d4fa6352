import { isObject, type JsonObject } from '../json.js';
import { mapped, placeOf, subschemas, type SchemaNode, type SchemaRuling } from '../schema-nodes.js';

/**
 * What OpenAI's structured output, always strict with codex, makes of a schema. `refused`: seen to be answered with
 * `invalid_json_schema`, so no turn would ever begin. `doubtful`: documented as unsupported for some models, or a limit
 * whose counting is not documented. Sources: OpenAI's guide on supported schemas, and the API's own messages.
 *
 * Strict wants every object closed and every property required. Both only narrow what may be answered, so codex is
 * given the schema closed and the answer is held to the one that was sent in: an open schema is no reason to refuse a
 * task.
 */
const REFUSED_KEYWORDS = ['allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];
const DOUBTFUL_KEYWORDS = [
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'uniqueItems',
  'prefixItems',
];
const MOST = { properties: 5_000, depth: 10, enumValues: 1_000 };

/** The schema as codex is given it. */
export function closedSchema(schema: JsonObject): JsonObject {
  return mapped(schema, (one) => {
    const { oneOf, ...rest } = one;
    // Of several that fit, ours is the check that only one does.
    const closed: JsonObject = oneOf === undefined ? { ...one } : { ...rest, anyOf: one['anyOf'] ?? oneOf };
    if (!isOfType(closed, 'object') && !isObject(closed['properties'])) return closed;
    const names = Object.keys(isObject(closed['properties']) ? closed['properties'] : {});
    return {
      type: 'object',
      ...closed,
      properties: closed['properties'] ?? {},
      additionalProperties: false,
      required: names,
    };
  });
}

export function codexSchemaRuling(asked: JsonObject): SchemaRuling {
  const schema = closedSchema(asked);
  const nodes = [...subschemas(schema)];
  // What a reference at the top leads to is looked at as every part is; whether it may stand there was not seen.
  const byReference = typeof schema['$ref'] === 'string' && schema['type'] === undefined;
  const refused = [
    ...(schema['type'] === 'object' || byReference ? [] : ['(root): type must be "object"']),
    ...(schema['anyOf'] === undefined
      ? []
      : [`(root): ${asked['oneOf'] === undefined ? 'anyOf' : 'oneOf'} is not permitted at the top`]),
  ];
  const doubtful = byReference ? ['(root): a reference at the top may be refused'] : [];
  return {
    refused: [...refused, ...nodes.flatMap(refusedIn)],
    doubtful: [...doubtful, ...nodes.flatMap(doubtfulIn), ...emptied(asked), ...limits(nodes)],
  };
}

function refusedIn({ schema, path }: SchemaNode): string[] {
  const at = placeOf(path);
  if (!isObject(schema)) return [`${at}: true and false are no schemas there; name a type`];
  const told = REFUSED_KEYWORDS.filter((keyword) => Object.hasOwn(schema, keyword)).map(
    (keyword) => `${at}: ${keyword} is not permitted`,
  );
  if (
    path.length > 0 &&
    !['type', '$ref', 'anyOf', 'enum', 'const', ...REFUSED_KEYWORDS].some((keyword) => Object.hasOwn(schema, keyword))
  )
    told.push(`${at}: a type is required`);
  if (isOfType(schema, 'array') && schema['items'] === undefined) told.push(`${at}: items is required`);
  return told;
}

function doubtfulIn({ schema, path }: SchemaNode): string[] {
  if (!isObject(schema)) return [];
  const told = DOUBTFUL_KEYWORDS.filter((keyword) => Object.hasOwn(schema, keyword)).map(
    (keyword) => `${placeOf(path)}: ${keyword} may be refused`,
  );
  const untyped = !Object.hasOwn(schema, 'type') && ['enum', 'const'].some((keyword) => Object.hasOwn(schema, keyword));
  return untyped ? [...told, `${placeOf(path)}: without a type it may be refused`] : told;
}

/** A map of anything can't be closed without losing what it was for. */
function emptied(asked: JsonObject): string[] {
  return [...subschemas(asked)].flatMap(({ schema, path }) => {
    if (
      !isObject(schema) ||
      !isOfType(schema, 'object') ||
      Object.keys(isObject(schema['properties']) ? schema['properties'] : {}).length > 0
    )
      return [];
    return schema['additionalProperties'] === false
      ? []
      : [`${placeOf(path)}: no property is named, so only an empty object can be answered there`];
  });
}

function limits(nodes: readonly SchemaNode[]): string[] {
  const objects = nodes.flatMap(({ schema }) => (isObject(schema) ? [schema] : []));
  const properties = objects.reduce(
    (sum, { properties: members }) => sum + (isObject(members) ? Object.keys(members).length : 0),
    0,
  );
  const values = objects.reduce((sum, one) => sum + (Array.isArray(one['enum']) ? one['enum'].length : 0), 0);
  const depth = Math.max(0, ...nodes.map(({ depth: levels }) => levels));
  return [
    ...(properties > MOST.properties ? [`${properties} properties; more than ${MOST.properties} may be refused`] : []),
    ...(values > MOST.enumValues ? [`${values} enum values; more than ${MOST.enumValues} may be refused`] : []),
    ...(depth > MOST.depth ? [`${depth} levels of objects; more than ${MOST.depth} may be refused`] : []),
  ];
}

function isOfType(schema: JsonObject, type: string): boolean {
  return schema['type'] === type || (Array.isArray(schema['type']) && schema['type'].includes(type));
}
