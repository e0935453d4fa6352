import { createHash } from 'node:crypto';
import { dispatchId, MOMENT_FORM, parseDuration, type DispatchRecord, type DispatchRequest } from '#contract';
import type { Records } from '#store';

/**
 * Of one call of `cmo retry`: the ids of the new dispatches follow from it, so that a call that is sent again makes no
 * others.
 */
export type RetryCall = { nonce: string; at: number; maxWaitMs: number | null };

export function retryId({ nonce, at }: Pick<RetryCall, 'nonce' | 'at'>, retried: string): string {
  return dispatchId(at, createHash('sha256').update(`${nonce} ${retried}`).digest());
}

/**
 * The dispatch once more, as a new request: what it was asked, with the texts that were kept. Not its key and not its
 * times: those were for the first.
 */
export async function retryRequest(
  record: DispatchRecord,
  call: RetryCall,
  records: Pick<Records, 'blob'>,
): Promise<DispatchRequest | null> {
  const [prompt, schema, env] = await Promise.all([
    records.blob(record.id, 'prompt'),
    records.blob(record.id, 'schema'),
    records.blob(record.id, 'env'),
  ]);
  if (prompt === null || env === null) return null;
  const {
    id: _id,
    hasSchema: _hasSchema,
    envNames: _names,
    once: _once,
    notBefore: _notBefore,
    deadline,
    retryOf: _retryOf,
    origin: _origin,
    schemaRefusedBy: _refused,
    warnings: _warnings,
    independentOf,
    ...kept
  } = record.request;
  return {
    ...kept,
    // Whom a review names is read again from what it reviews; the stored vendor came from there.
    ...(kept.reviewOf === undefined && independentOf !== undefined && { independentOf }),
    ...(deadline !== undefined && MOMENT_FORM.test(deadline) && parseDuration(deadline, 's') !== null && { deadline }),
    id: retryId(call, record.id),
    prompt,
    env: JSON.parse(env) as Record<string, string>,
    ...(schema !== null && { schema: JSON.parse(schema) as unknown }),
    class: record.class === 'interactive' ? 'normal' : record.class,
    maxWaitMs: call.maxWaitMs,
  };
}
