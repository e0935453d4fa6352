import { fileURLToPath } from 'node:url';
import { createApi, type Log } from '#api';
import type { Environment, Paths } from '#config';
import { errorBody, LIVE_STATES, PROTOCOL, VERSION, type Config, type ErrorBody } from '#contract';
import { watchChanges, type Records } from '#store';
import { startWorker, type Worker } from '#worker';
import { aboutDaemon } from './about-daemon.js';
import { apiResources } from './api-resources.js';
import { apiSocket } from './api-socket.js';
import { stopWhenIdle } from './idle.js';
import { keepSupervisor } from './kept-supervisor.js';
import { Life, type StopOptions } from './life.js';
import { openRedis } from './redis-connections.js';
import { clearStartupError } from './startup-error.js';
import { holdStateFolder } from './state-folder.js';

export type Daemon = {
  /** Repeated calls wait for the first. */
  stop(options: StopOptions): Promise<void>;
  /** Settles when it has stopped, for any reason; true: it made way, and a service is to start the next one. */
  gone: Promise<boolean>;
};

export type DaemonStart =
  | { ok: true; daemon: Daemon }
  /** `other`: a daemon of this folder is at work, which is no failure of this folder's. */
  | { ok: false; error: ErrorBody; other: boolean };

export type DaemonParts = {
  paths: Paths;
  config: Config;
  env: Environment;
  log: Log;
  /** It is run by a service of the box, and so does not leave when nothing is to do. */
  service: boolean;
};

/**
 * One daemon: private Redis, worker and api of one state folder. It is ready when its lock says so; a start that fails
 * undoes what it did.
 *
 *   folders ▶ daemon.lock ▶ Redis ▶ layout ▶ node lease ▶ api ▶ worker ▶ socket ▶ ready
 */
export async function startDaemon(parts: DaemonParts): Promise<DaemonStart> {
  const { paths, config, env, log, service } = parts;
  const life = new Life(log);
  const fail = async (error: ErrorBody, other = false): Promise<DaemonStart> => {
    await life.fail();
    return { ok: false, error, other };
  };
  try {
    const held = await holdStateFolder(paths, life, log);
    if (!held.ok) return await fail(held.error, held.other);
    const { place } = held;
    const connected = await openRedis(parts, life);
    if (!connected.ok) return await fail(connected.error);
    const { home, forWorker, forApi } = connected;

    let worker: Worker | null = null;
    const changes = await watchChanges(forWorker);
    life.onLeave('changes', () => changes.close());
    const resources = apiResources({
      redis: forApi,
      changes,
      paths,
      config,
      env,
      log,
      meters: () => worker?.meters ?? null,
      lend: (attempt, lent) =>
        void worker
          ?.lend(attempt, lent)
          .catch((error: unknown) => log.warn({ err: error, attempt }, 'a slot could not be lent or taken back')),
      daemon: aboutDaemon({ home, service, life }, () => worker),
    });
    life.onLeave('queue', () => resources.queue.close());
    const api = await createApi(resources);
    const socket = apiSocket(paths.apiSocket, api.app.server, (error) => {
      if (error) log.error({ err: error }, 'the api socket was removed by hand and cannot be made again');
      else log.warn({ socket: paths.apiSocket }, 'the api socket was removed by hand and made again');
    });
    // Steps are undone in reverse order, so clients that still read an answer get it first.
    life.onLeave('open connections', () => socket.close());
    life.onLeave('api', () => api.close());

    // Adopts what runs before it fetches anything; polls that come later find it all tended.
    const started = await startWorker({
      redis: forWorker,
      config,
      stateDir: paths.state,
      log,
      env,
      soleNode: home.about().private,
      nodeProgram: keepSupervisor(paths.state),
    });
    worker = started;
    life.onLeave('worker', ({ kill }) => started.stop({ kill }), null);

    await socket.open();

    // What a service runs is there for what comes next, whenever that is.
    const idle = service
      ? null
      : stopWhenIdle({
          life,
          socket,
          api,
          log,
          idleMs: config.timing.idleStopMs,
          isBusy: async () => !started.idle() || api.busy() || (await waitsOrRuns(resources.records)),
        });
    life.onLeave('socket', async () => {
      idle?.stop();
      await place.update({ phase: 'stopping', version: VERSION });
      await socket.pause();
    });
    clearStartupError(paths.state);
    await place.update({
      phase: 'ready',
      version: VERSION,
      protocol: PROTOCOL,
      socket: paths.apiSocket,
      program: fileURLToPath(import.meta.url),
      service,
    });
    log.info({ version: VERSION, service, socket: paths.apiSocket, node: config.nodeId, redis: home.about() }, 'ready');
    life.began();
    return {
      ok: true,
      daemon: { stop: (options) => life.stop(options), gone: life.gone.then(() => life.askedBy()?.again === true) },
    };
  } catch (error) {
    log.error({ err: error }, 'the start ended in a bug');
    return fail(
      errorBody('CMO_E_DAEMON', 'the daemon could not be started', {
        details: [error instanceof Error ? `${error.name}: ${error.message.slice(0, 300)}` : 'for an unknown reason'],
      }),
    );
  }
}

async function waitsOrRuns(records: Pick<Records, 'counts'>): Promise<boolean> {
  const counts = await records.counts();
  return LIVE_STATES.some((state) => counts[state] > 0);
}
