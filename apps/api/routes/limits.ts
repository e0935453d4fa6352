import type { FastifyInstance } from 'fastify';
import { answered } from '../answers.js';
import type { ApiResources } from '../resources.js';

/**
 * GET /v1/limits: what is known of every account's windows, without asking a vendor. POST /v1/limits/refresh: asks
 * every source that may be asked now, waits for the answers, and answers the same.
 */
export function limitsRoutes(app: FastifyInstance, { limits }: Pick<ApiResources, 'limits'>): void {
  app.get('/v1/limits', async () => answered('cmo.limits/1', await limits.read()));
  app.post('/v1/limits/refresh', async () => answered('cmo.limits/1', await limits.refresh()));
}
