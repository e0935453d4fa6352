import { type CancelManyData } from '#contract';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered } from '../answers.js';
import { readBody } from '../read-body.js';
import type { ApiResources } from '../resources.js';
import { LIVE, matchedOf, pick, picking } from '../selection.js';

const body = z.strictObject(picking);
const FORM = '{"ids": […]} or {"select": {"batch"?, "labels"?, "states"?}}, and "dryRun"?';
/** Requests to Redis in flight at once. */
const WIDTH = 100;

/**
 * POST /v1/cancel {ids | select, dryRun?}: each as by its own route. Without states a selection means what has not
 * ended.
 */
export function cancelManyRoute(app: FastifyInstance, resources: ApiResources): void {
  const { queue, log, writeLines } = resources;
  app.post('/v1/cancel', async (request) => {
    const call = readBody(body, request.body, FORM);
    const found = await pick(call, resources, LIVE);
    const data: CancelManyData = { ...matchedOf(found), cancelled: 0, alreadyEnded: 0, asked: [] };
    if (call.dryRun) return answered('cmo.cancel/1', data);
    const ended: string[] = [];
    for (let at = 0; at < found.length; at += WIDTH) {
      const answers = await Promise.all(
        found.slice(at, at + WIDTH).map(async ({ id }) => ({ id, how: (await queue.cancel(id))?.how })),
      );
      for (const { id, how } of answers) {
        if (how === 'cancelled') ended.push(id);
        else if (how === 'asked') data.asked.push(id);
        else data.alreadyEnded++;
      }
    }
    data.cancelled = ended.length;
    await writeLines(ended);
    log.info({ matched: data.matched, cancelled: data.cancelled, asked: data.asked.length }, 'cancel of many');
    return answered('cmo.cancel/1', data);
  });
}
