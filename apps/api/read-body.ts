import { refuse } from './answers.js';
import { refusal, wrong } from './problems.js';

/** The part of a zod schema that a body is read with. */
type Schema<T> = { safeParse(value: unknown): { success: true; data: T } | { success: false } };

/** A request's body, where an absent one is an empty object. @throws CMO_E_UNKNOWN_VALUE that shows the right `form` */
export function readBody<T>(schema: Schema<T>, body: unknown, form: string): T {
  const parsed = schema.safeParse(body ?? {});
  if (!parsed.success) return refuse(refusal([wrong('', 'the body', body, form)]));
  return parsed.data;
}
