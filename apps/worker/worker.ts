import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Config, GcData, HealthData, LanesFacts, LimitsData } from '#contract';
import { openWakes, type CostsOf } from '#gate';
import { openTickets, openTransitions } from '#queue';
import { layBallast } from '#receipts';
import { forkHere, openForkServer, probeSupervisor, removeHalfMade, type SupervisorKind } from '#runner';
import { keys, openRecords, queueName, takePulse } from '#store';
import { bringBack } from './bring-back.js';
import { cliVersions } from './cli-versions.js';
import { NODE } from './doorkeeper.js';
import { submittedEnvironment } from './environment.js';
import { STOP_BOUND_MS, within } from './every.js';
import { followControls } from './follow-controls.js';
import { collectGarbage } from './gc/gc.js';
import { healthOf } from './health.js';
import { laneKeeper } from './lane-keeper.js';
import { lentSlots } from './lent-slots.js';
import { nodeSlots } from './node-slots.js';
import { openMeters } from './prober/meters.js';
import { recentEnds } from './recent-ends.js';
import type { Log, Resources } from './resources.js';
import { makeRoster } from './roster.js';
import { queueServer } from './serve-queues.js';
import { startTender } from './tender.js';
import { startUpkeep } from './upkeep.js';
import { workPlaces } from './work-places.js';

export type WorkerOptions = {
  /** A connection of kind `worker`: it must reconnect without end. The worker makes its subscribers from it. */
  redis: Redis;
  config: Config;
  stateDir: string;
  log: Log;
  /**
   * No other node can reach this Redis (a private one on a unix socket), so after a scan no other node can assert runs.
   */
  soleNode?: boolean;
  /**
   * The bundled Node program of libs/runner: starts supervisors, and is one on boxes without sh, setpriv or /proc.
   * Null: there is none, so this process starts them.
   */
  nodeProgram: string | null;
  /** Default: found out by a trial. */
  supervisor?: SupervisorKind;
  /**
   * The daemon's own environment: CLIs and logins are found by it, and the turn that renews a login is made from it.
   */
  env?: Readonly<Record<string, string | undefined>>;
  clock?: () => number;
  random?: () => number;
};

export interface Worker {
  /** Removes what is kept no longer, or only says what. */
  collectGarbage(dryRun: boolean): Promise<GcData>;
  runningCount(): number;
  idle(): boolean;
  /** Whether work comes forward here, and what keeps it from doing so. */
  health(): HealthData;
  /**
   * While the agent of this attempt waits for one of its own, its slots are another's: the account's, and the node's.
   */
  lend(attempt: string, lent: boolean): Promise<void>;
  /** Hands the runs over (they go on, the next worker adopts them), or ends the agents and delivers them first. */
  stop(options: { kill: boolean }): Promise<void>;
  meters: {
    /** The picture of all accounts now, without asking a vendor. */
    limits(): Promise<LimitsData>;
    /** Asks every source that may be asked first. */
    refresh(): Promise<LimitsData>;
    /** What attempts cost as far as it was measured. */
    costsOf: CostsOf;
    /** The facts, with the lanes closed whose login on this box has lapsed. */
    withHolds(facts: LanesFacts): LanesFacts;
  };
}

/** After the grace, for the end of a process tree and its delivery, ms. */
const KILL_BOUND_MS = 15_000;
/** A run folder is made in milliseconds: what is half made for this long was left by a crash, ms. */
const HALF_MADE_MS = 60_000;
/** A queue worker that has not come round for this many of its longest sleeps is deaf. */
const DEAF_ROUNDS = 6;

/** The worker of one process: a gated queue worker per lane of this node, the tenders of its runs, and their upkeep. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { redis, config, stateDir, log, clock = Date.now, random = Math.random, env = {} } = options;
  const supervisor = options.supervisor ?? (await probeSupervisor({ script: options.nodeProgram ?? '' }));
  if (supervisor.kind === 'node')
    log.warn({ why: supervisor.why }, 'agents run under the Node supervisor: 40 MB each, and they outlive its kill');
  const forks = supervisor.kind === 'sh' && options.nodeProgram !== null ? openForkServer(options.nodeProgram) : null;
  const pulse = takePulse(redis);
  const wakes = await openWakes(redis);
  const folders = {
    runs: join(stateDir, 'runs'),
    receipts: join(stateDir, 'receipts'),
    blobs: join(stateDir, 'blobs'),
  };
  const records = openRecords(redis, { folder: folders.blobs, node: config.nodeId });
  const meters = await openMeters({
    redis,
    config,
    stateDir,
    log,
    clock,
    environment: env,
    submitted: async (lane) => {
      const [first] = await redis.zrange(keys.line(queueName(lane.id, config.nodeId)), 0, '0');
      return first === undefined ? null : submittedEnvironment({ records }, first);
    },
    changed: () => wakes.local(),
  });
  const resources: Resources = {
    redis,
    config,
    gate: meters.gate,
    wakes,
    meters: meters.feed,
    costs: meters,
    records,
    transitions: openTransitions(redis, config),
    tickets: openTickets(redis),
    folders,
    outbox: { redis, folder: folders.receipts },
    versions: cliVersions(clock),
    places: workPlaces((dispatches) => void bringBack(resources, dispatches)),
    supervisor,
    fork: forks?.fork ?? forkHere,
    environment: env,
    node: config.nodeId,
    log,
    clock,
    random,
  };

  // These three know of each other, so each asks for the next when it is called: slots count the roster's runs and the
  // lent ones, the roster frees slots, and how many slots there are is heard from the controls.
  let nodeLimit = (): number => config.slots.node;
  const lent = lentSlots(
    resources,
    () => roster,
    () => slots.runEnded(),
  );
  const slots = nodeSlots(
    () => nodeLimit(),
    () => roster.count() - lent.count(),
    () => wakes.local(NODE),
  );
  const ends = await recentEnds(folders.runs, clock);
  const roster = makeRoster(
    (run) => startTender(resources, run),
    (attempt) => {
      ends.note(attempt);
      resources.places.leave(attempt);
      lent.forget(attempt);
      slots.runEnded();
    },
  );

  let serveMore = (): void => undefined;
  const controls = await followControls(
    redis,
    config,
    () => slots.runEnded(),
    () => serveMore(),
    log,
  );
  nodeLimit = () => controls.nodeSlots();
  const cancels = redis.duplicate({ connectionName: 'cmo:cancels' });
  cancels.on('error', () => {});
  cancels.on('message', (_channel, id) => roster.cancel(id));
  await cancels.subscribe(keys.channels.cancel);

  // Before the first fetch: what runs here is found, adopted and counted.
  await layBallast(folders.receipts);
  await removeHalfMade(folders.runs, HALF_MADE_MS, clock());
  await resources.gate.recall(config.nodeId);
  const { timing } = config;
  // A loop that lives comes round once in each fallback, and hardly ever more than once a second.
  const keeper = laneKeeper(DEAF_ROUNDS * Math.max(timing.wakeFallbackMs, 1_000), pulse, log);
  const soleNode = options.soleNode ?? false;
  const upkeep = await startUpkeep({ resources, roster, ends, keeper, controls, soleNode });

  const queues = queueServer({ resources, meters, slots, roster, keeper });
  serveMore = () => void queues.serveAny().catch(() => undefined);
  await queues.serveAny();
  await queues.serveOwn();
  meters.start();

  return {
    runningCount: () => roster.count(),
    collectGarbage: (dryRun) => collectGarbage(resources, dryRun),
    meters,
    idle: () => roster.idle(),
    health: () => healthOf(pulse, keeper.states(), upkeep.rounds),
    lend: (attempt, lend) => lent.lend(attempt, lend),
    async stop({ kill }) {
      queues.stop();
      // Each step is bounded: with Redis away their commands wait for it, and whatever they do may be broken off.
      await within(STOP_BOUND_MS, Promise.all([keeper.close(), upkeep.stop()]));
      if (kill)
        await within(timing.killGraceMs + KILL_BOUND_MS, Promise.all(roster.all().map((tender) => tender.kill())));
      await within(STOP_BOUND_MS, roster.handOver());
      forks?.close();
      await meters.stop();
      pulse.stop();
      cancels.disconnect();
      controls.close();
      await within(STOP_BOUND_MS, Promise.all([wakes.close(), resources.tickets.close()]));
    },
  };
}
