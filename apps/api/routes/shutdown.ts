import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered, refuse } from '../answers.js';
import { refusal, wrong } from '../problems.js';
import type { ApiResources } from '../resources.js';

const bodySchema = z.strictObject({ kill: z._default(z.boolean(), false), keepRedis: z._default(z.boolean(), false) });

/**
 * POST /v1/shutdown {kill?, keepRedis?}: answers first, then the daemon hands its runs over (or ends them) and leaves.
 */
export function shutdownRoute(app: FastifyInstance, { daemon }: ApiResources): void {
  app.post('/v1/shutdown', async (request, reply) => {
    const parsed = bodySchema.safeParse(request.body ?? {});
    if (!parsed.success)
      refuse(refusal([wrong('', 'the body', request.body, '{"kill": true or false, "keepRedis": true or false}')]));
    const { kill, keepRedis } = parsed.data;
    reply.raw.once('close', () => daemon.shutdown({ kill, keepRedis }));
    reply.header('connection', 'close');
    return answered('cmo.shutdown/1', { kill, keepRedis });
  });
}
