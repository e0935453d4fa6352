import { errorBody } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered, refuse } from '../answers.js';
import type { ApiResources } from '../resources.js';

/**
 * GET /healthz: the process answers, whatever else is wrong. GET /readyz: 503 with the reasons while no work can come
 * forward here: Redis is away, or the worker makes no progress. For whatever watches a box; neither asks Redis.
 */
export function healthRoutes(app: FastifyInstance, { daemon }: ApiResources): void {
  app.get('/healthz', () => answered('cmo.health/1', { alive: true }));
  app.get('/readyz', () => {
    const health = daemon.health();
    const [first] = health.problems;
    if (first === undefined) return answered('cmo.ready/1', health);
    refuse(
      errorBody(/^Redis /.test(first) ? 'CMO_E_REDIS' : 'CMO_E_DAEMON', first, { details: health.problems.slice(1) }),
    );
  });
}
