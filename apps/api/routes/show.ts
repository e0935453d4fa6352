import { errorBody, type ShowData } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered, refuse } from '../answers.js';
import { dispatchIdOf } from '../query.js';
import type { ApiResources } from '../resources.js';
import { waitingLooks } from '../waiting.js';

/**
 * GET /v1/dispatches/:id/show: the whole record (without prompt, schema and values of the environment) and its
 * receipts.
 */
export function showRoute(app: FastifyInstance, resources: ApiResources): void {
  const { records, receipts } = resources;
  app.get<{ Params: { id: string } }>('/v1/dispatches/:id/show', async (request) => {
    const id = dispatchIdOf(request.params.id);
    const record = await records.read(id);
    if (record === null) refuse(errorBody('CMO_E_NO_DISPATCH', `no dispatch ${id}`));
    const data: ShowData = { record, receipts: await receipts(id), waiting: await waitingLooks(resources)(record) };
    return answered('cmo.show/1', data);
  });
}
