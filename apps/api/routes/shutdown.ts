import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered } from '../answers.js';
import { readBody } from '../read-body.js';
import type { ApiResources } from '../resources.js';

const bodySchema = z.strictObject({ kill: z._default(z.boolean(), false), keepRedis: z._default(z.boolean(), false) });
const FORM = '{"kill": true or false, "keepRedis": true or false}';

/**
 * POST /v1/shutdown {kill?, keepRedis?}: answers first, then the daemon hands its runs over (or ends them) and leaves.
 */
export function shutdownRoute(app: FastifyInstance, { daemon }: ApiResources): void {
  app.post('/v1/shutdown', async (request, reply) => {
    const { kill, keepRedis } = readBody(bodySchema, request.body, FORM);
    reply.raw.once('close', () => daemon.shutdown({ kill, keepRedis }));
    reply.header('connection', 'close');
    return answered('cmo.shutdown/1', { kill, keepRedis });
  });
}
