import type { GcData } from '#contract';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered } from '../answers.js';
import { readBody } from '../read-body.js';
import type { ApiResources } from '../resources.js';

const bodySchema = z.strictObject({ dryRun: z.boolean() });

/** POST /v1/gc {dryRun}: removes what is past its retention, or only says what. */
export function gcRoute(app: FastifyInstance, { daemon }: ApiResources): void {
  app.post('/v1/gc', async (request) => {
    const { dryRun } = readBody(bodySchema, request.body, '{"dryRun": true or false}');
    return answered<GcData>('cmo.gc/1', await daemon.collectGarbage(dryRun));
  });
}
