import {
  CmoError,
  errorBody,
  isEnded,
  policyConfig,
  type DispatchRecord,
  type ErrorBody,
  type SubmitData,
} from '#contract';
import type { NewDispatch } from '#queue';
import type { FastifyInstance } from 'fastify';
import { admit } from '../admit.js';
import { answered, refuse } from '../answers.js';
import { diskError } from '../disk.js';
import { gatherer } from '../gather.js';
import { keyed, onRecord, wholeKey, type Keyed } from '../once.js';
import { parseSubmit } from '../parse-submit.js';
import { refusal } from '../problems.js';
import { readEnvelope } from '../read-envelope.js';
import type { ApiResources } from '../resources.js';
import { waitingLooks } from '../waiting.js';

/**
 * POST /v1/dispatches {dispatches: […], once?}: all are recorded, or none. An id that is known is not looked at again,
 * whatever its body says by now: a client that lost the answer sends the same thing and gets the record.
 */
export function submitRoute(app: FastifyInstance, resources: ApiResources): void {
  const { config, records } = resources;
  const policy = policyConfig(config);
  app.post('/v1/dispatches', async (request) => {
    const submit = parseSubmit(request.body, policy);
    if (!submit.ok) refuse(refusal(submit.problems));
    const all = keyed(submit.requests, wholeKey(request.headers['idempotency-key'], submit.once));
    const known = await onRecord(all, records);
    const news = await admitAll(
      all.filter((_, i) => known[i] === null),
      resources,
    );
    const taken = await submitAll(news, resources);

    const look = waitingLooks(resources);
    const found = known.flatMap((record) => record ?? taken.shift() ?? []);
    const data: SubmitData = {
      dispatches: await Promise.all(found.map((record) => readEnvelope(resources, record, look))),
    };
    return answered('cmo.submit/1', data);
  });
}

/** Records them, and answers what is then on record for each, in their order. */
export async function submitAll(
  news: readonly NewDispatch[],
  { queue, log, writeLine }: Pick<ApiResources, 'queue' | 'log' | 'writeLine'>,
): Promise<DispatchRecord[]> {
  if (news.length === 0) return [];
  const taken = await queue.submit(news);
  for (const { id, state, lane, class: of } of taken) log.info({ dispatch: id, state, lane, class: of }, 'submitted');
  // Ended by this very request (deferred), so its line is this request's to write.
  await Promise.all(
    taken.filter(({ id, state }, i) => isEnded(state) && news[i]?.record.id === id).map(({ id }) => writeLine(id)),
  );
  return taken;
}

/** Every new one admitted, or the first refusal with the number of the others. */
export async function admitAll(all: readonly Keyed[], resources: ApiResources): Promise<NewDispatch[]> {
  const full = all.length > 0 ? diskError(await resources.disk()) : null;
  if (full) refuse(full);
  const gather = gatherer(resources);
  const admissions = await Promise.all(
    all.map(async ({ request }) => admit(request, await gather(request), resources.config)),
  );
  const refused = admissions.flatMap((admission, i) =>
    admission.ok ? [] : [{ error: admission.error, id: all[i]?.request.id ?? '' }],
  );
  const [first] = refused;
  if (first)
    throw new CmoError(all.length === 1 ? first.error : ofMany(first.error, first.id, refused.length, all.length));
  return admissions.flatMap((admission, i) => (admission.ok ? [{ ...admission.news, task: all[i]?.task ?? '' }] : []));
}

function ofMany(error: ErrorBody, id: string, refused: number, all: number): ErrorBody {
  const details = [
    `${id} is refused for it`,
    ...(refused > 1 ? [`${refused - 1} more are refused`] : []),
    `none of the ${all} was recorded`,
    ...(error.details ?? []),
  ];
  return errorBody(error.code, error.message, { details, fix: error.fix });
}
