import { join } from 'node:path';
import type { Redis } from 'ioredis';
import {
  attemptId,
  type Config,
  type GcData,
  type HealthData,
  type LaneConfig,
  type LanesFacts,
  type LimitsData,
} from '#contract';
import { openWakes, type CostsOf } from '#gate';
import { openTickets, openTransitions } from '#queue';
import { layBallast } from '#receipts';
import { forkHere, openForkServer, probeSupervisor, removeHalfMade, type SupervisorKind } from '#runner';
import { ANY_NODE, keys, openRecords, queueName, takePulse } from '#store';
import { cliVersions } from './cli-versions.js';
import { laneDoor, NODE } from './doorkeeper.js';
import { every, STOP_BOUND_MS, within } from './every.js';
import { healthOf } from './health.js';
import { followControls } from './follow-controls.js';
import { collectGarbage } from './gc/gc.js';
import { heartbeat } from './heartbeat.js';
import { laneKeeper } from './lane-keeper.js';
import { laneWorker } from './lane-worker.js';
import { nodeSlots } from './node-slots.js';
import { ticketOpener } from './open-ticket.js';
import { rebalancer } from './rebalance.js';
import type { Log, Resources } from './resources.js';
import { submittedEnvironment } from './environment.js';
import { openMeters } from './prober/meters.js';
import { loseNodes, tellOfNode } from './lost-nodes.js';
import { makeRoster } from './roster.js';
import { recentEnds } from './recent-ends.js';
import { assertDelivered, scan } from './scan.js';
import { sweep } from './sweeper.js';
import { startTender } from './tender.js';
import { workPlaces } from './work-places.js';

export type WorkerOptions = {
  /** A connection of kind `worker`: it must reconnect without end. The worker makes its subscribers from it. */
  redis: Redis;
  config: Config;
  stateDir: string;
  log: Log;
  /**
   * No other node can reach this Redis (a private one on a unix socket): after a scan nobody else has runs to assert.
   */
  soleNode?: boolean;
  /**
   * The bundled Node program of libs/runner: starts supervisors, and is one on boxes
   * without sh, setpriv or /proc. Null: there is none, so this process starts them.
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
    /** The picture of all accounts now; asks nobody. */
    limits(): Promise<LimitsData>;
    /** Asks every source that may be asked first. */
    refresh(): Promise<LimitsData>;
    /** What attempts cost as far as it was measured. */
    costsOf: CostsOf;
    /** The facts, with the lanes closed whose login on this box has lapsed. */
    withHolds(facts: LanesFacts): LanesFacts;
  };
}

const RECOUNT_MS = 60_000;
/** Beyond the grace: the end of a process tree and its delivery, ms. */
const KILL_BOUND_MS = 15_000;
const HALF_MADE_MS = 60_000;
/** Longer than any delivery takes. */
const REMIND_MS = 30_000;
/** A queue worker that came not round for so many of its longest sleeps is deaf. */
const DEAF_ROUNDS = 6;
const GC_MS = 3_600_000;
/** Not beside everything else that a start has to do. */
const FIRST_GC_MS = 60_000;

/** One process' worker: a gated worker per lane of this node, its tenders, and their upkeep. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { redis, config, stateDir, log, clock = Date.now, random = Math.random } = options;
  const supervisor = options.supervisor ?? (await probeSupervisor({ script: options.nodeProgram ?? '' }));
  if (supervisor.kind === 'node')
    log.warn({ why: supervisor.why }, 'agents run under the Node supervisor: 40 MB each, and they outlive its kill');
  const forks = supervisor.kind === 'sh' && options.nodeProgram !== null ? openForkServer(options.nodeProgram) : null;
  const pulse = takePulse(redis);
  const wakes = await openWakes(redis);
  const records = openRecords(redis, { folder: join(stateDir, 'blobs'), node: config.nodeId });
  const meters = await openMeters({
    redis,
    config,
    stateDir,
    log,
    clock,
    environment: options.env ?? {},
    submitted: async (lane) => {
      const [first] = await redis.zrange(keys.line(queueName(lane.id, config.nodeId)), 0, '0');
      return first === undefined ? null : submittedEnvironment({ records }, first);
    },
    changed: () => wakes.local(),
  });
  const { gate } = meters;
  const resources: Resources = {
    redis,
    config,
    gate,
    wakes,
    meters: meters.feed,
    costs: meters,
    records,
    transitions: openTransitions(redis, config),
    tickets: openTickets(redis),
    folders: { runs: join(stateDir, 'runs'), receipts: join(stateDir, 'receipts'), blobs: join(stateDir, 'blobs') },
    outbox: { redis, folder: join(stateDir, 'receipts') },
    versions: cliVersions(clock),
    places: workPlaces((dispatches) => void bringBack(resources, dispatches)),
    supervisor,
    fork: forks?.fork ?? forkHere,
    environment: options.env ?? {},
    node: config.nodeId,
    log,
    clock,
    random,
  };

  /** Attempts of this node whose agents wait for their own. */
  const lent = new Set<string>();
  let nodeLimit = (): number => config.slots.node;
  const slots = nodeSlots(
    () => nodeLimit(),
    () => roster.count() - lent.size,
    () => wakes.local(NODE),
  );
  const ends = await recentEnds(resources.folders.runs, clock);
  /**
   * Redis was away, and may have forgotten what was delivered: also what
   * was just being delivered, and is noted only when that is over.
   */
  let backAt = performance.now();
  const roster = makeRoster(
    (run) => startTender(resources, run),
    (attempt) => {
      ends.note(attempt);
      resources.places.leave(attempt);
      lent.delete(attempt);
      slots.runEnded();
    },
  );

  /** Called whenever somebody has said something, and with each heartbeat. */
  const told = new Set<() => void>();
  let stopping = false;
  const said = await followControls(
    redis,
    config,
    () => slots.runEnded(),
    () => told.forEach((hear) => hear()),
    log,
  );
  nodeLimit = () => said.nodeSlots();

  const cancels = redis.duplicate({ connectionName: 'cmo:cancels' });
  cancels.on('error', () => {});
  cancels.on('message', (_channel, id) => roster.cancel(id));
  await cancels.subscribe(keys.channels.cancel);

  // Before the first fetch: what runs here is found, adopted and counted.
  await layBallast(resources.folders.receipts);
  await removeHalfMade(resources.folders.runs, HALF_MADE_MS, clock());
  await gate.recall(config.nodeId);
  const look = async (): Promise<void> => {
    if (performance.now() - backAt < REMIND_MS) await assertDelivered(resources, ends.attempts());
    await scan(resources, roster);
    if (options.soleNode) await gate.asserted();
  };
  await look();

  const { timing } = config;
  const collecting = every(GC_MS, 'removing what is kept no longer', () => collectGarbage(resources, false), log);
  const soon = setTimeout(() => void collecting.now(), FIRST_GC_MS);
  // A loop that lives comes round at least once in each fallback, and more often than each second only by chance.
  const keeper = laneKeeper(DEAF_ROUNDS * Math.max(timing.wakeFallbackMs, 1_000), pulse, log);
  const rounds = {
    'the scan': every(timing.sweepMs, 'the scan', look, log),
    'the sweeper': every(timing.sweepMs, 'the sweeper', () => sweep(resources), log),
    'the heartbeat': every(timing.heartbeatMs, 'the heartbeat', () => heartbeat(resources, roster), log),
  };
  const upkeep = [
    ...Object.values(rounds),
    every(timing.heartbeatMs, 'looking for deaf queue workers', () => keeper.look(), log),
    every(timing.heartbeatMs, 'telling of this node', () => tellOfNode(resources), log),
    every(
      Math.max(timing.sweepMs, timing.heartbeatMs),
      'looking for nodes that are gone',
      () => loseNodes(resources),
      log,
    ),
    every(timing.heartbeatMs, 'what persons have said', () => said.read(), log),
    every(RECOUNT_MS, 'the recount', () => recount(resources), log),
    collecting,
  ];
  await tellOfNode(resources);
  await recount(resources);
  // Redis is back: files win about processes, and cancels may have been missed.
  const back = (): void => {
    backAt = performance.now();
    for (const part of upkeep) void part.now();
  };
  redis.on('ready', back);

  const serve = (lane: LaneConfig, home: string): Promise<void> => {
    const queue = queueName(lane.id, home);
    const balance = rebalancer(resources, lane, queue);
    const door = laneDoor(
      resources,
      lane,
      queue,
      slots,
      (refusal) => void balance(refusal),
      async () => {
        const hold = await meters.hold(lane);
        // Only with work to move: a look at an empty line would count as the look at the work that comes next.
        if (hold?.shut && (await meters.isWaiting(lane.account)))
          void balance({ ok: false, reason: 'closed', window: 'auth', til: null, bare: true, event: null });
        return hold;
      },
    );
    const open = ticketOpener(resources, lane, slots, roster);
    return keeper.serve(queue, (sign) => laneWorker(resources, lane, queue, door, open, sign));
  };
  // Most boxes never have work for any node: their queues are served from the first of it on.
  let servesAny = false;
  const serveAny = async (): Promise<void> => {
    if (servesAny || stopping || (await redis.exists(keys.anyUsed)) === 0) return;
    if (servesAny || stopping) return;
    servesAny = true;
    await Promise.all(config.lanes.map((lane) => serve(lane, ANY_NODE)));
  };
  told.add(() => void serveAny().catch(() => undefined));
  await serveAny();
  await Promise.all(config.lanes.map((lane) => serve(lane, config.nodeId)));
  meters.start();

  let lending: Promise<void> = Promise.resolve();
  async function lendOne(attempt: string, lend: boolean): Promise<void> {
    const tender = roster.all().find((one) => attemptId(one.dispatch, one.attempt) === attempt);
    const account = tender && (await records.read(tender.dispatch))?.account;
    if (!account || !roster.has(attempt)) return;
    if (lend) lent.add(attempt);
    else lent.delete(attempt);
    await gate.lend(attempt, account, lend);
    if (lend) slots.runEnded();
  }

  return {
    runningCount: () => roster.count(),
    collectGarbage: (dryRun) => collectGarbage(resources, dryRun),
    meters,
    idle: () => roster.idle(),
    health: () => healthOf(pulse, keeper.states(), rounds),
    lend(attempt, lend) {
      // One after the other: a slot that was taken back must not end up lent.
      lending = lending.catch(() => undefined).then(() => lendOne(attempt, lend));
      return lending;
    },
    async stop({ kill }) {
      stopping = true;
      redis.off('ready', back);
      clearTimeout(soon);
      // Bounded, each of them: with Redis away their commands wait for it, and whatever they do may be broken off.
      await within(STOP_BOUND_MS, Promise.all([keeper.close(), ...upkeep.map((part) => part.stop())]));
      if (kill)
        await within(timing.killGraceMs + KILL_BOUND_MS, Promise.all(roster.all().map((tender) => tender.kill())));
      await within(STOP_BOUND_MS, roster.handOver());
      forks?.close();
      await meters.stop();
      pulse.stop();
      cancels.disconnect();
      said.close();
      await within(STOP_BOUND_MS, Promise.all([wakes.close(), resources.tickets.close()]));
    },
  };
}

/** Dispatches whose folder is free again get their tickets; should that fail, the sweeper gives them theirs. */
async function bringBack(
  { records, transitions, tickets, log }: Resources,
  dispatches: readonly string[],
): Promise<void> {
  try {
    for (const id of dispatches) {
      const record = await records.read(id);
      if (!record || (record.state !== 'queued' && record.state !== 'retrying')) continue;
      await transitions.behind(record, null);
      await tickets.add([record]);
    }
  } catch (error) {
    log.warn(
      { error: error instanceof Error ? error.message : String(error) },
      'work that waited for its folder could not be brought back; the sweeper does it',
    );
  }
}

async function recount({ gate, log }: Resources): Promise<void> {
  for (const account of gate.accounts()) {
    const off = await gate.recount(account);
    if (Object.keys(off).length > 0) log.warn({ account, off }, 'the sums of the gate had drifted and were mended');
  }
}
