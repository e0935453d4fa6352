import { BOUNDS, STATES, type ListData, type State } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered } from '../answers.js';
import { refuseUnknownKeys, wholeOf, wordOf, wordsOf } from '../query.js';
import type { ApiResources } from '../resources.js';
import { rowOf } from '../row.js';
import { waitingLooks } from '../waiting.js';

/** GET /v1/dispatches?state=a,b&batch=NAME&limit=N: newest first, 100 rows unless told. */
export function listRoute(app: FastifyInstance, { records, gate, config, now }: ApiResources): void {
  app.get<{ Querystring: Record<string, unknown> }>('/v1/dispatches', async (request) => {
    refuseUnknownKeys(request.query, ['state', 'batch', 'limit']);
    const states = wordsOf(request.query, 'state', STATES) as State[] | undefined;
    const batch = wordOf(request.query, 'batch');
    const limit = wholeOf(request.query, 'limit', { default: 100, min: 1, max: BOUNDS.rows });
    const found = await records.list({ limit, ...(states && { states }), ...(batch !== undefined && { batch }) });
    const look = waitingLooks(gate, config.lanes);
    const data: ListData = { dispatches: await Promise.all(found.map(async (record) => rowOf(record, await look(record), now()))) };
    return answered('cmo.dispatches/1', data);
  });
}
