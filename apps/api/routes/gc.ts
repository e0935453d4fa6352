import type { GcData } from '#contract';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered, refuse } from '../answers.js';
import { refusal, wrong } from '../problems.js';
import type { ApiResources } from '../resources.js';

const bodySchema = z.strictObject({ dryRun: z.boolean() });

/** POST /v1/gc {dryRun}: removes what is kept no longer, or only says what. */
export function gcRoute(app: FastifyInstance, { daemon }: ApiResources): void {
  app.post('/v1/gc', async (request) => {
    const parsed = bodySchema.safeParse(request.body ?? {});
    if (!parsed.success) return refuse(refusal([wrong('', 'the body', request.body, '{"dryRun": true or false}')]));
    return answered<GcData>('cmo.gc/1', await daemon.collectGarbage(parsed.data.dryRun));
  });
}
