import {
  CmoError,
  errorBody,
  isEnded,
  NUMBERS,
  type DispatchRecord,
  type DispatchRequest,
  type RetryData,
} from '#contract';
import { orNull, within } from '#contract/schemas/words';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered, refuse } from '../answers.js';
import { readBody } from '../read-body.js';
import type { ApiResources } from '../resources.js';
import { retryId, retryRequest } from '../retry.js';
import { ENDED, matchedOf, pick, picking } from '../selection.js';
import { admitAll, submitAll } from './submit.js';

const body = z.strictObject({
  ...picking,
  nonce: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  at: z.int().check(z.gte(0), z.lte(2 ** 48 - 1)),
  maxWaitMs: orNull(within(NUMBERS.maxWaitMs)),
});
const FORM = '{"ids": […]} or {"select": {…}}, with "nonce", "at", "maxWaitMs", and "dryRun"?';
/** The texts of this many dispatches are held in memory at once. */
const CHUNK = 100;

/**
 * POST /v1/retry {ids | select, nonce, at, maxWaitMs, dryRun?}: a new dispatch for each, which takes its place in its
 * batch. Without states a selection means what ended without an answer and was not retried yet.
 */
export function retryRoute(app: FastifyInstance, resources: ApiResources): void {
  const { records, log } = resources;
  app.post('/v1/retry', async (request) => {
    const call = readBody(body, request.body, FORM);
    const chosen = await pick(
      call,
      resources,
      ENDED.filter((state) => state !== 'succeeded'),
    );
    const live = chosen.find(({ state }) => !isEnded(state));
    if (live)
      return refuse(
        errorBody('CMO_E_UNSATISFIABLE', `${live.id} has not ended: it is ${live.state}`, {
          fix: `wait for it (\`cmo wait ${live.id}\`), or cancel it first`,
        }),
      );
    // A call that is sent again finds its own retries there.
    const found =
      call.ids === undefined
        ? chosen.filter(({ id, retriedBy }) => retriedBy === null || retriedBy === retryId(call, id))
        : chosen;
    const data: RetryData = { ...matchedOf(found), dispatches: [] };
    if (call.dryRun) return answered('cmo.retry/1', data);
    for (let at = 0; at < found.length; at += CHUNK) {
      const chunk = found.slice(at, at + CHUNK);
      const requests = await Promise.all(
        chunk.map(async (record) => ({ record, request: await retryRequest(record, call, records) })),
      );
      const gone = requests.find((one) => one.request === null);
      if (gone)
        return refuse(
          errorBody('CMO_E_UNSATISFIABLE', `the task of ${gone.record.id} is not kept any more`, {
            fix: 'submit it again',
          }),
        );
      const known = new Map(
        (await Promise.all(requests.map(({ request: made }) => records.read(made?.id ?? '')))).flatMap((record) =>
          record ? [[record.id, record]] : [],
        ),
      );
      const all = requests.flatMap(({ record, request: made }) =>
        made && !known.has(made.id) ? [{ record, request: made, task: '' }] : [],
      );
      const news = (await admitAll(all, resources).catch((error: unknown) => refuseRetry(error, all))).map((one, i) => {
        const retryOf = all[i]?.record.id ?? '';
        return { ...one, record: { ...one.record, request: { ...one.record.request, retryOf } } };
      });
      for (const record of await submitAll(news, resources)) known.set(record.id, record);
      for (const { record, request: made } of requests) {
        const now = known.get(made?.id ?? '');
        if (now) data.dispatches.push({ id: now.id, retryOf: record.id, state: now.state });
      }
    }
    log.info({ matched: data.matched, dispatches: data.dispatches.length }, 'retry');
    return answered('cmo.retry/1', data);
  });
}

/**
 * Rewrites the refusal of a retried task: it must name the dispatch that was to be retried, not the new one that never
 * came to be, and must not advise another folder, which a retry can't have.
 */
function refuseRetry(error: unknown, all: readonly { record: DispatchRecord; request: DispatchRequest }[]): never {
  if (!(error instanceof CmoError)) throw error;
  const { code, message, details = [], fix, retryAfter } = error.body;
  const known = details.map((line) =>
    all.reduce((text, { record, request }) => text.replace(request.id, record.id), line),
  );
  return refuse(
    errorBody(code, message, {
      details: known,
      fix: code === 'CMO_E_CWD' ? 'make that folder again, or submit the task anew with another --cwd' : fix,
      ...(retryAfter !== undefined && { retryAfter }),
    }),
  );
}
