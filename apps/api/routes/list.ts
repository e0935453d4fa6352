import { BOUNDS, type ListData } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered } from '../answers.js';
import { FILTERS, filterOf } from '../filter.js';
import { refuseUnknownKeys, wholeOf } from '../query.js';
import type { ApiResources } from '../resources.js';
import { rowOf } from '../row.js';
import { waitingLooks } from '../waiting.js';

/** GET /v1/dispatches?limit=N and the filters: newest first, 100 rows unless told. */
export function listRoute(app: FastifyInstance, resources: ApiResources): void {
  const { records, now } = resources;
  app.get<{ Querystring: Record<string, unknown> }>('/v1/dispatches', async (request) => {
    refuseUnknownKeys(request.query, [...FILTERS, 'limit']);
    const limit = wholeOf(request.query, 'limit', { default: 100, min: 1, max: BOUNDS.rows });
    const found = await records.list({ ...filterOf(request.query), limit });
    const look = waitingLooks(resources);
    const data: ListData = {
      dispatches: await Promise.all(found.map(async (record) => rowOf(record, await look(record), now()))),
    };
    return answered('cmo.dispatches/1', data);
  });
}
