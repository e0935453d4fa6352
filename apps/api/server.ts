import { BOUNDS } from '#contract';
import { setTimeout as delay } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { installAnswers } from './answers.js';
import { lending } from './lending.js';
import type { ApiResources } from './resources.js';
import { batchRoutes } from './routes/batches.js';
import { cancelManyRoute } from './routes/cancel-many.js';
import { cancelRoute } from './routes/cancel.js';
import { controlRoutes } from './routes/control.js';
import { dispatchRoute } from './routes/dispatch.js';
import { limitsRoutes } from './routes/limits.js';
import { gcRoute } from './routes/gc.js';
import { healthRoutes } from './routes/health.js';
import { listRoute } from './routes/list.js';
import { logsRoute } from './routes/logs.js';
import { retryRoute } from './routes/retry.js';
import { showRoute } from './routes/show.js';
import { shutdownRoute } from './routes/shutdown.js';
import { statusRoute } from './routes/status.js';
import { submitRoute } from './routes/submit.js';
import { watchEnds } from './watch-end.js';

export type Api = {
  app: FastifyInstance;
  /** A request is being answered, a long poll among them. */
  busy(): boolean;
  /** Settles when no request is being answered; long polls are not waited for. */
  drained(): Promise<void>;
  /** Ends the long polls, waits for the requests that are being answered, and closes. */
  close(): Promise<void>;
};

/** The HTTP interface. It opens no socket and starts nothing: the caller that listens hands it connections. */
export async function createApi(resources: ApiResources): Promise<Api> {
  const app = fastify({
    logger: false,
    bodyLimit: BOUNDS.body,
    routerOptions: { maxParamLength: 64 },
    // Unknown members of a prototype are refused, never copied into an object.
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    return503OnClosing: false,
  });
  const requests = countRequests(app);
  let closing = false;
  const lent = lending(resources.lend);
  const ends = watchEnds(resources.records, resources.changes);
  installAnswers(app, resources.log, () => resources.daemon.health().problems);
  submitRoute(app, resources);
  dispatchRoute(app, resources, ends, lent);
  listRoute(app, resources);
  showRoute(app, resources);
  logsRoute(app, resources, () => closing);
  cancelRoute(app, resources);
  cancelManyRoute(app, resources);
  retryRoute(app, resources);
  batchRoutes(app, resources);
  controlRoutes(app, resources);
  gcRoute(app, resources);
  statusRoute(app, resources);
  healthRoutes(app, resources);
  limitsRoutes(app, resources);
  shutdownRoute(app, resources);
  await app.ready();
  return {
    app,
    busy: () => requests.open() > 0,
    drained: () => untilOr(() => requests.open() <= ends.open(), DRAIN_MS),
    async close() {
      closing = true;
      ends.close();
      lent.close();
      await untilOr(() => requests.open() === 0, DRAIN_MS);
      await app.close();
    },
  };
}

/** What a slow client does not take in this time is not waited for. */
const DRAIN_MS = 5_000;

async function untilOr(done: () => boolean, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (!done() && performance.now() < until) await delay(10);
}

function countRequests(app: FastifyInstance): { open(): number } {
  let open = 0;
  app.addHook('onRequest', async (_request, reply) => {
    open++;
    // Comes once, whether the answer was sent or the client left.
    reply.raw.once('close', () => open--);
  });
  return { open: () => open };
}
