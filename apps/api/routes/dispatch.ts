import { BOUNDS, errorBody, isEnded } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered, refuse } from '../answers.js';
import type { Lending } from '../lending.js';
import { readEnvelope } from '../read-envelope.js';
import { dispatchIdOf, refuseUnknownKeys, wholeOf } from '../query.js';
import type { ApiResources } from '../resources.js';
import { waitingLooks } from '../waiting.js';
import type { EndWatch } from '../watch-end.js';

/** By which a client inside an agent says whose it is. */
const ATTEMPT_HEADER = 'cmo-attempt';

/**
 * GET /v1/dispatches/:id?wait=MS. Answers when the dispatch has ended, at the latest after MS (never later than
 * BOUNDS.waitMs: a larger number is answered then, and the client asks again). While the agent that sent it waits here
 * (it names its attempt), that agent's slot is lent.
 */
export function dispatchRoute(app: FastifyInstance, resources: ApiResources, ends: EndWatch, lent: Lending): void {
  app.get<{ Params: { id: string }; Querystring: Record<string, unknown> }>('/v1/dispatches/:id', async (request) => {
    const id = dispatchIdOf(request.params.id);
    refuseUnknownKeys(request.query, ['wait']);
    const wait = Math.min(
      wholeOf(request.query, 'wait', { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
      BOUNDS.waitMs,
    );
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    request.raw.socket.once('close', leave);
    const parent = wait > 0 ? await parentThatWaits(id, request.headers[ATTEMPT_HEADER]) : null;
    const back = parent === null ? null : lent.waits(parent);
    try {
      const record = await ends.wait(id, wait, gone.signal);
      if (record === null) refuse(errorBody('CMO_E_NO_DISPATCH', `no dispatch ${id}`));
      return answered('cmo.dispatch/1', await readEnvelope(resources, record, waitingLooks(resources)));
    } finally {
      back?.();
      request.raw.socket.removeListener('close', leave);
    }
  });

  /** The attempt that waits here for its own child, and whose slot may be lent meanwhile; null when another asks. */
  async function parentThatWaits(id: string, attempt: string | string[] | undefined): Promise<string | null> {
    if (typeof attempt !== 'string') return null;
    const record = await resources.records.read(id);
    return record !== null && !isEnded(record.state) && record.request.parent === attempt ? attempt : null;
  }
}
