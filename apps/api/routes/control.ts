import { errorBody, MOMENT, parseMoment, type ControlData } from '#contract';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { answered, refuse } from '../answers.js';
import { refusal, wrong, wrongWord } from '../problems.js';
import { readBody } from '../read-body.js';
import type { ApiResources } from '../resources.js';

/** Of one line, for a person. */
const reasonText = z.string().check(z.minLength(1), z.maxLength(200), z.regex(/^[^\p{C}]+$/u));
const pauseBody = z.strictObject({
  lane: z.nullable(z.string()),
  reason: reasonText,
  until: z.exactOptional(z.string()),
});
const resumeBody = z.strictObject({ lane: z.nullable(z.string()) });
const drainBody = z.strictObject({ reason: reasonText });
const setting = z.strictObject({
  of: z.enum(['account', 'lane', 'node', 'dark']),
  name: z.string(),
  atOnce: z.nullable(z.int().check(z.gte(0), z.lte(10_000))),
});
const slotsBody = z.strictObject({ set: z.array(setting).check(z.minLength(1), z.maxLength(100)) });
const NODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** What persons say about starting work. Each answers what then stands. */
export function controlRoutes(app: FastifyInstance, { config, controls, log, now }: ApiResources): void {
  const lanes = config.lanes.map(({ id }) => id);
  const accounts = [...new Set(config.lanes.map(({ account }) => account))];
  const standing = async (): Promise<object> => answered<ControlData>('cmo.control/1', await controls.read());

  app.get('/v1/control', standing);

  /** POST /v1/pause {lane: ID | null (all), reason, until?}. */
  app.post('/v1/pause', async ({ body }) => {
    const { lane, reason, until } = readBody(
      pauseBody,
      body,
      '{"lane": ID or null, "reason": TEXT, "until"?: a time or a duration}',
    );
    if (lane !== null) mustBe('lane', lane, lanes);
    const til = until === undefined ? null : parseMoment(until, now());
    if (until !== undefined && til === null) refuse(refusal([wrong('', 'until', until, MOMENT)]));
    if (til !== null && til <= now())
      refuse(errorBody('CMO_E_UNSATISFIABLE', 'the pause would be over already', { fix: 'name a later time' }));
    await controls.pause(lane, reason, til);
    log.info({ lane, reason, until: til }, 'paused');
    return standing();
  });

  /** POST /v1/resume {lane: ID | null}: null takes back every pause, and the drain of this node. */
  app.post('/v1/resume', async ({ body }) => {
    const { lane } = readBody(resumeBody, body, '{"lane": ID or null}');
    if (lane === null) {
      for (const pause of (await controls.read()).pauses) await controls.resume(pause.lane);
      await controls.undrain(config.nodeId);
    } else {
      mustBe('lane', lane, lanes);
      await controls.resume(lane);
    }
    log.info({ lane }, 'resumed');
    return standing();
  });

  /** POST /v1/drain {reason}: this node starts nothing any more. */
  app.post('/v1/drain', async ({ body }) => {
    const { reason } = readBody(drainBody, body, '{"reason": TEXT}');
    await controls.drain(config.nodeId, reason);
    log.info({ node: config.nodeId, reason }, 'drained');
    return standing();
  });

  /**
   * POST /v1/slots {set: [{of, name, atOnce | null}]}: null takes the configuration's word again. All of them, or none.
   */
  app.post('/v1/slots', async ({ body }) => {
    const { set } = readBody(
      slotsBody,
      body,
      '{"set": [{"of": account, lane, node or dark, "name": TEXT, "atOnce": 0..10000 or null}]}',
    );
    for (const { of, name } of set) {
      if (of === 'account') mustBe('account', name, accounts);
      if (of === 'lane') mustBe('lane', name, lanes);
      if (of === 'dark' && name !== '') refuse(refusal([wrong('', 'name', name, 'no name: it is for every account')]));
      if (of === 'node' && !NODE.test(name)) refuse(refusal([wrong('', 'node', name, 'the name of a node')]));
    }
    for (const { of, name, atOnce } of set) await controls.setSlots(of, name, atOnce);
    log.info({ set }, 'slots set');
    return standing();
  });
}

function mustBe(field: string, seen: string, allowed: readonly string[]): void {
  if (!allowed.includes(seen)) refuse(refusal([wrongWord('', field, seen, allowed)]));
}
