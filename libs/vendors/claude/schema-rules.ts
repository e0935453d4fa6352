import { isObject, type JsonObject } from '../json.js';
import { placeOf, subschemas, type SchemaRuling } from '../schema-nodes.js';

/**
 * What Anthropic's API makes of a schema: claude hands it over as the input of a tool, and a tool's input is an object
 * without alternatives at its top. Source: the API's own messages (`input_schema does not support oneOf, allOf, or
 * anyOf at the top level`; `Property keys should match pattern …`).
 */
const NOT_AT_TOP = ['oneOf', 'allOf', 'anyOf'];
const KEY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The schema as claude is given it: what names properties means an object. */
export function objectSchema(schema: JsonObject): JsonObject {
  return schema['type'] === undefined && isObject(schema['properties']) ? { type: 'object', ...schema } : schema;
}

export function claudeSchemaRuling(asked: JsonObject): SchemaRuling {
  const schema = objectSchema(asked);
  const refused = schema['type'] === 'object' ? [] : ['(root): type must be "object"'];
  refused.push(
    ...NOT_AT_TOP.filter((keyword) => Object.hasOwn(schema, keyword)).map(
      (keyword) => `(root): ${keyword} is not permitted at the top; put it into a property`,
    ),
  );
  for (const { schema: one, path } of subschemas(schema)) {
    const names = isObject(one) && isObject(one['properties']) ? Object.keys(one['properties']) : [];
    refused.push(
      ...names
        .filter((name) => !KEY.test(name))
        .map(
          (name) =>
            `${placeOf(path)}: the property name ${JSON.stringify(name.slice(0, 80))} must be 1 to 64 letters, digits, _ . or -`,
        ),
    );
  }
  return { refused, doubtful: [] };
}
