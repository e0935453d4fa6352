import { CmoError, errorBody } from '#contract';
import { readBounded } from './prompt.js';

/** A file that holds one JSON Schema. Whether it is a right one is the daemon's to say: it has the library for it. */
export function readSchemaFile(path: string): unknown {
  let text: string;
  try {
    text = readBounded(path, () => new Error('it is larger than 16 MB')).toString('utf8');
  } catch (error) {
    throw refused(`the schema file can't be read: ${path}`, (error as Error).message);
  }
  let schema: unknown;
  try {
    schema = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw refused(`the schema file is not JSON: ${path}`, (error as Error).message);
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw refused(`the schema file holds no JSON object: ${path}`);
  return schema;
}

function refused(message: string, detail?: string): CmoError {
  return new CmoError(errorBody('CMO_E_SCHEMA_FILE', message, detail === undefined ? {} : { details: [detail] }));
}
