import { errorBody, type CancelData } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered, refuse } from '../answers.js';
import { dispatchIdOf } from '../query.js';
import type { ApiResources } from '../resources.js';

/** POST /v1/dispatches/:id/cancel: waiting → cancelled at once; running → asked, and its node ends the tree. */
export function cancelRoute(app: FastifyInstance, { queue, log, writeLine }: ApiResources): void {
  app.post<{ Params: { id: string } }>('/v1/dispatches/:id/cancel', async (request) => {
    const id = dispatchIdOf(request.params.id);
    const cancelled = await queue.cancel(id);
    if (cancelled === null) refuse(errorBody('CMO_E_NO_DISPATCH', `no dispatch ${id}`));
    log.info({ dispatch: id, how: cancelled.how }, 'cancel');
    if (cancelled.how === 'cancelled') await writeLine(id);
    const data: CancelData = { id, state: cancelled.state, how: cancelled.how };
    return answered('cmo.cancel/1', data);
  });
}
