import { createHash } from 'node:crypto';
import { BOUNDS, errorBody, type DispatchRecord, type DispatchRequest } from '#contract';
import { onceConflict } from '#queue';
import type { Records } from '#store';
import { refuse } from './answers.js';

/**
 * Of every member of a request, whether it makes the task another task. `beside`: who sends it from which shell, how long
 * it may wait, and under which names it is kept. A member that is new to a request does not compile until it is here.
 * Keys are kept for days, so the order of those of the task must not change: their digest would.
 */
const MEMBERS: Readonly<Record<keyof DispatchRequest, 'task' | 'beside'>> = {
  prompt: 'task',
  schema: 'task',
  cwd: 'task',
  node: 'task',
  role: 'task',
  complexity: 'task',
  length: 'task',
  contextTokens: 'task',
  write: 'task',
  readOnly: 'task',
  independentOf: 'task',
  reviewOf: 'task',
  strictIndependence: 'task',
  pin: 'task',
  model: 'task',
  timeoutMs: 'task',
  attempts: 'task',
  failover: 'task',
  fullAccess: 'task',
  retryWrites: 'task',
  id: 'beside',
  env: 'beside',
  exclusive: 'beside',
  class: 'beside',
  maxWaitMs: 'beside',
  once: 'beside',
  notBefore: 'beside',
  ttlMs: 'beside',
  deadline: 'beside',
  batch: 'beside',
  labels: 'beside',
  parent: 'beside',
};

export function taskDigest(request: DispatchRequest, of = 1): string {
  const values = new Map<string, unknown>(Object.entries(request));
  const said = Object.entries(MEMBERS).flatMap(([member, group]) =>
    group === 'task' ? [[member, values.get(member) ?? null]] : [],
  );
  return createHash('sha256')
    .update(JSON.stringify([of, said]))
    .digest('hex');
}

/** One dispatch as it is asked for: under which key it is kept, and what that key must stand for. */
export type Keyed = { request: DispatchRequest; task: string };

/**
 * A key for a whole submit stands for each of its dispatches by its place, and for their number: fewer of them, or
 * more, are another submit.
 */
export function keyed(requests: readonly DispatchRequest[], key: string | undefined): Keyed[] {
  const many = requests.length > 1;
  return requests.map((request, i) => {
    if (key === undefined) return { request, task: request.once === undefined ? '' : taskDigest(request) };
    if (request.once !== undefined)
      refuse(
        errorBody('CMO_E_UNSATISFIABLE', 'a key for the whole submit, and one of a dispatch', {
          fix: 'say one of them',
        }),
      );
    return {
      request: { ...request, once: many ? `${key}/${i + 1}` : key },
      task: taskDigest(request, requests.length),
    };
  });
}

/** As a refusal names it. */
export const ONCE = `one word of at most ${BOUNDS.once} printable characters`;

export function isOnceKey(text: string): boolean {
  return text.length <= BOUNDS.once && /^(?!\s)[^\p{C}]+(?<!\s)$/u.test(text);
}

/** The header's value, or the body's; absent when neither says one. */
export function wholeKey(header: string | string[] | undefined, body: string | undefined): string | undefined {
  if (header === undefined) return body;
  if (typeof header !== 'string' || !isOnceKey(header))
    return refuse(errorBody('CMO_E_UNKNOWN_VALUE', `Idempotency-Key: allowed: ${ONCE}`));
  if (body !== undefined && body !== header)
    return refuse(errorBody('CMO_E_UNSATISFIABLE', 'two keys for one submit', { fix: 'say one of them' }));
  return header;
}

/**
 * What is on record already for each: by its id (sent again after a lost
 * answer), or by its key. Or the refusal of a key that means another task.
 */
export async function onRecord(
  all: readonly Keyed[],
  records: Pick<Records, 'read' | 'once'>,
): Promise<(DispatchRecord | null)[]> {
  return Promise.all(
    all.map(async ({ request: { id, once }, task }) => {
      const known = await records.read(id);
      if (known || once === undefined) return known;
      const kept = await records.once(once);
      const first = kept && (await records.read(kept.id));
      if (first && kept.task !== task) return refuse(onceConflict(once, kept.id));
      return first;
    }),
  );
}
