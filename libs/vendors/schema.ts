import { thrownMessage } from '#contract';
import type { AnswerCheck } from './adapter.js';
import { isObject, textOf } from './json.js';

/** An argument of one program may have 128 KiB on Linux, and claude takes the schema as one. */
export const SCHEMA_MAX_CHARS = 100_000;
const DETAILS_MAX = 20;

export type CheckResult = { ok: true; check: AnswerCheck } | { ok: false; details: string[] };

/** No schema, only "some JSON": what is left when a run was asked for one that we no longer have. */
export const anyJson: AnswerCheck = () => [];

/**
 * Compiles a JSON Schema (2020-12 unless `$schema` names an older one) to a check of answers. Expected errors are
 * values: the schema is not an object, too large, not a valid schema, or refers to something outside itself. `format`
 * is an annotation, as the standard has it: a date that a vendor writes its own way must not throw good work away. ajv
 * is loaded on the first call and stands in no eager graph.
 */
export async function answerCheck(schema: unknown): Promise<CheckResult> {
  if (!isObject(schema)) return { ok: false, details: ['a JSON Schema is an object'] };
  if (JSON.stringify(schema).length > SCHEMA_MAX_CHARS)
    return { ok: false, details: [`more than ${String(SCHEMA_MAX_CHARS)} characters`] };
  const draft = textOf(schema['$schema']) ?? '';
  const { $schema: _, ...bare } = schema;
  const options = {
    strict: false,
    allErrors: true,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
  } as const;
  try {
    const validate = (await validator(draft, options)).compile(bare);
    const check: AnswerCheck = (value) => {
      if (validate(value)) return [];
      const lines = (validate.errors ?? []).map(
        ({ instancePath, message, params }) =>
          `${instancePath === '' ? '(root)' : instancePath} ${message ?? 'does not fit'}${extra(params)}`,
      );
      return lines.length > 0 ? [...new Set(lines)].slice(0, DETAILS_MAX) : ['does not fit'];
    };
    return { ok: true, check };
  } catch (error) {
    return { ok: false, details: [thrownMessage(error)] };
  }
}

/** `.default.default`: the class stands there in Node and in the bundle; as a named export it is lost when bundled. */
async function validator(draft: string, options: object) {
  if (/draft-0[467]\b/.test(draft)) return new (await import('ajv')).default.default(options);
  if (/2019-09/.test(draft)) return new (await import('ajv/dist/2019.js')).default.default(options);
  return new (await import('ajv/dist/2020.js')).default.default(options);
}

function extra(params: Record<string, unknown>): string {
  const name = textOf(params['additionalProperty']) ?? textOf(params['unevaluatedProperty']);
  return name === null ? '' : ` (${JSON.stringify(name)})`;
}
