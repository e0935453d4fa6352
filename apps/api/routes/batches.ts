import { BOUNDS, errorBody, isEnded, STATES, type BatchesData, type BatchStatus } from '#contract';
import type { FastifyInstance } from 'fastify';
import { answered, refuse } from '../answers.js';
import { refuseUnknownKeys, wholeOf } from '../query.js';
import type { ApiResources } from '../resources.js';

/** Looks at the census at most so often, however fast its members change, ms. */
const GATHER_MS = 100;
const LOOK_AGAIN_MS = 5_000;

/** GET /v1/batches?limit=N, and /v1/batches/:name?wait=MS: answers when all of it has ended, at the latest after MS. */
export function batchRoutes(app: FastifyInstance, { records, changes }: ApiResources): void {
  app.get<{ Querystring: Record<string, unknown> }>('/v1/batches', async (request) => {
    refuseUnknownKeys(request.query, ['limit']);
    const data: BatchesData = {
      batches: await records.batches(wholeOf(request.query, 'limit', { default: 20, min: 1, max: BOUNDS.rows })),
    };
    return answered('cmo.batches/1', data);
  });

  app.get<{ Params: { name: string }; Querystring: Record<string, unknown> }>('/v1/batches/:name', async (request) => {
    refuseUnknownKeys(request.query, ['wait']);
    const wait = Math.min(
      wholeOf(request.query, 'wait', { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
      BOUNDS.waitMs,
    );
    const { name } = request.params;
    const until = performance.now() + wait;
    let left = false;
    request.raw.socket.once('close', () => (left = true));
    for (;;) {
      const status = await records.census(name);
      if (status === null)
        return refuse(
          errorBody('CMO_E_NO_DISPATCH', `no batch ${JSON.stringify(name.slice(0, 64))}`, {
            fix: '`cmo ls --batches` lists those on record',
          }),
        );
      const rest = until - performance.now();
      if (hasEnded(status) || rest <= 0 || left) return answered('cmo.batch-status/1', status);
      await nextChange(Math.min(rest, LOOK_AGAIN_MS));
    }
  });

  /** Of any dispatch: whose it is, the census says. */
  async function nextChange(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const stop = changes.on(() => done());
      const timer = setTimeout(() => done(), ms);
      const done = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
    });
    await new Promise((resolve) => setTimeout(resolve, Math.min(GATHER_MS, ms)));
  }
}

function hasEnded({ census }: BatchStatus): boolean {
  return STATES.every((state) => isEnded(state) || census[state] === 0);
}
