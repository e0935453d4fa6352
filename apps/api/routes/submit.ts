import { CmoError, errorBody, isEnded, policyConfig, type DispatchRecord, type DispatchRequest, type ErrorBody, type SubmitData } from '#contract';
import type { NewDispatch } from '#queue';
import type { FastifyInstance } from 'fastify';
import { admit } from '../admit.js';
import { answered, refuse } from '../answers.js';
import { gatherer } from '../gather.js';
import { parseSubmit } from '../parse-submit.js';
import { refusal } from '../problems.js';
import { readEnvelope } from '../read-envelope.js';
import type { ApiResources } from '../resources.js';
import { waitingLooks } from '../waiting.js';

/**
 * POST /v1/dispatches {dispatches: […]}: all are recorded, or none. An id that is known is not looked at again, whatever its
 * body says by now: a client that lost the answer sends the same thing and gets the record.
 */
export function submitRoute(app: FastifyInstance, resources: ApiResources): void {
  const { config, queue, records, gate, log, writeLine } = resources;
  const policy = policyConfig(config);
  app.post('/v1/dispatches', async (request) => {
    const submit = parseSubmit(request.body, policy);
    if (!submit.ok) refuse(refusal(submit.problems));
    const { requests } = submit;

    const known = new Map((await Promise.all(requests.map(({ id }) => records.read(id)))).flatMap((record) => (record ? [[record.id, record]] : [])));
    const news = await admitAll(requests.filter(({ id }) => !known.has(id)), resources);
    for (const record of news.length > 0 ? await queue.submit(news) : []) known.set(record.id, record);
    for (const { record } of news) log.info({ dispatch: record.id, state: record.state, lane: record.lane, class: record.class }, 'submitted');
    // Ended by this very request (deferred), so its line is this request's to write.
    await Promise.all(news.filter(({ record }) => isEnded(record.state)).map(({ record }) => writeLine(record.id)));

    const look = waitingLooks(gate, config.lanes);
    const found = requests.map(({ id }) => known.get(id)).filter((record): record is DispatchRecord => record !== undefined);
    const data: SubmitData = { dispatches: await Promise.all(found.map((record) => readEnvelope(resources, record, look))) };
    return answered('cmo.submit/1', data);
  });
}

/** Every new one admitted, or the first refusal with the number of the others. */
async function admitAll(requests: readonly DispatchRequest[], resources: ApiResources): Promise<NewDispatch[]> {
  const gather = gatherer(resources);
  const admissions = await Promise.all(requests.map(async (request) => admit(request, await gather(request), resources.config)));
  const refused = admissions.flatMap((admission, i) => (admission.ok ? [] : [{ error: admission.error, id: requests[i]?.id ?? '' }]));
  const [first] = refused;
  if (first) throw new CmoError(requests.length === 1 ? first.error : ofMany(first.error, first.id, refused.length, requests.length));
  return admissions.flatMap((admission) => (admission.ok ? [admission.news] : []));
}

function ofMany(error: ErrorBody, id: string, refused: number, all: number): ErrorBody {
  const details = [`${id} is refused for it`, ...(refused > 1 ? [`${refused - 1} more are refused`] : []), `none of the ${all} was recorded`, ...(error.details ?? [])];
  return errorBody(error.code, error.message, { details, fix: error.fix });
}
