import { fileShape } from './file-shape.js';
import type { JsonSchema } from './shape.js';

/** The JSON Schema of config.json, from the shape that reads it: an editor says what a start would say. */
export function configSchema(): JsonSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'cmo config.json', ...fileShape.schema() };
}
