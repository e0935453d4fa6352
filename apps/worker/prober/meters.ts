import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Config, LaneConfig, LaneFacts, LanesFacts, LimitsData } from '#contract';
import { openGate, type CostsOf, type Gate } from '#gate';
import { findExecutable } from '#runner';
import { meterFeed, type MeterFeed } from '../meter-feed.js';
import type { Log } from '../resources.js';
import { claudeProbe } from './claude-probe.js';
import { costLedgers, type CostLedgers } from './cost-ledger.js';
import { loginKeeper, type LoginHold, type LoginKeeper } from './login-keeper.js';
import { measuredCosts } from './measured-costs.js';
import { metersFile } from './meters-file.js';
import { startProber, type Prober } from './prober.js';
import { runningOf } from './running.js';
import { repairTurn } from './repair-turn.js';
import { sharedTime, type SharedTime } from './shared-time.js';
import { openTurns } from './turns.js';

/** Everything of this process that reads meters, and what the rest of the worker and the api get of it. */
export interface Meters {
  /** Charges measured costs, and shows lanes whose login has lapsed as closed. */
  gate: Gate;
  feed: MeterFeed;
  ledgers: CostLedgers;
  time: SharedTime;
  costsOf: CostsOf;
  /** An attempt's cost as it was taken to be, points per window; `measured`: not only the configuration's word. */
  costShown(lane: LaneConfig, tier: string): { points: Record<string, number>; measured: boolean };
  hold(lane: LaneConfig): Promise<LoginHold | null>;
  /** Something waits for this account on this node. */
  isWaiting(account: string): Promise<boolean>;
  withHolds(facts: LanesFacts): LanesFacts;
  limits(): Promise<LimitsData>;
  refresh(): Promise<LimitsData>;
  /** Begins to look at what is due. */
  start(): void;
  stop(): Promise<void>;
}

export type MetersParts = {
  /** Of the worker: what runs bring goes over it. */
  redis: Redis;
  config: Config;
  stateDir: string;
  log: Log;
  clock: () => number;
  /** The daemon's own: its CLIs and logins are found by it. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Of a dispatch that waits on the lane; null: none does. The turn that renews a login runs as any agent of it. */
  submitted: (lane: LaneConfig) => Promise<Record<string, string> | null>;
  /** A hold has begun or ended. */
  changed: () => void;
};

const INSTALLED_MS = 10_000;
const STOP_MS = 2_000;

export async function openMeters(parts: MetersParts): Promise<Meters> {
  const { redis, config, stateDir, log, clock, environment, submitted, changed } = parts;
  // Its own connection: what is looked at here every second must not stand in the lane workers' way.
  const own = redis.duplicate({ connectionName: 'cmo:prober' });
  own.on('error', () => {});
  const time = sharedTime(own, clock);
  const costs = measuredCosts(own, config);
  await costs.refresh();
  const bare = openGate(redis, config, costs.of);
  const looking = openGate(own, config, costs.of);
  const ledgers = costLedgers(own, log, () => void costs.refresh().catch(() => undefined));
  const feed = meterFeed({
    gate: bare,
    config,
    log,
    time,
    taken: (reading) => {
      costs.saw(reading);
      ledgers.reading(reading);
    },
  });
  const turns = openTurns(own, time);
  let prober: Prober | null = null;

  const keeper: LoginKeeper = loginKeeper({
    config,
    environment,
    clock,
    log,
    submitted,
    changed,
    wanted: async (lane) =>
      runningOf(await looking.snapshot(lane.account)) > 0 || ((await prober?.isWaiting(lane.account)) ?? false),
    events: (lane, events) => events.forEach((event) => void feed.claudeEvent(lane, event, clock())),
    turn: async (lane, path) =>
      repairTurn(lane, { ...environment, ...(await submitted(lane).catch(() => null)) }, path),
  });
  const withHolds = (facts: LanesFacts): LanesFacts => {
    const shut = config.lanes.filter((lane) => Object.hasOwn(facts, lane.id) && keeper.lastHold(lane)?.shut === true);
    return { ...facts, ...Object.fromEntries(shut.map(({ id }) => [id, closedByLogin(facts[id])])) };
  };
  const installed = installedClis(config, environment['PATH'] ?? '', clock);
  const file = metersFile(stateDir, (error) => log.warn({ error: String(error) }, 'meters.json could not be written'));
  const claude = claudeProbe({ keeper, turns, time, clock, take: (reading) => feed.take(reading) });
  const begun = (): Prober => {
    prober ??= startProber({
      config,
      node: config.nodeId,
      log,
      redis: own,
      gate: looking,
      meters: feed,
      time,
      turns,
      keeper,
      costs,
      claude,
      installed,
      picture: (data) => file.offer(data),
    });
    return prober;
  };

  return {
    gate: { ...bare, facts: async (lanes, here) => withHolds(await bare.facts(lanes, here)) },
    feed,
    ledgers: {
      ...ledgers,
      began(account, id, run) {
        prober?.poke();
        ledgers.began(account, id, run);
      },
    },
    time,
    costsOf: costs.of,
    costShown(lane, tier) {
      const rows = costs.rows(lane.account).filter((row) => row.lane === lane.id && row.tier === tier);
      return {
        points: Object.fromEntries(rows.map(({ window, points }) => [window, points])),
        measured: rows.some(({ measured }) => measured > 0),
      };
    },
    hold: (lane) => keeper.hold(lane),
    isWaiting: async (account) => (await prober?.isWaiting(account)) ?? false,
    withHolds,
    limits: () => begun().limits(),
    refresh: () => begun().refresh(),
    start: () => void begun(),
    async stop() {
      // Bounded: with Redis away, a look that waits for it would keep the worker from leaving.
      await Promise.race([prober?.stop(), delay(STOP_MS, undefined, { ref: false })]);
      await file.stop();
      await Promise.race([ledgers.written(), delay(STOP_MS, undefined, { ref: false })]);
      own.disconnect();
    },
  };
}

function closedByLogin(facts: LaneFacts = { available: false }): LaneFacts {
  return { ...facts, hardBlocked: true, blockedBy: 'auth', nextResetAt: null };
}

/** Which lanes have their CLI on the daemon's PATH; looked up at most every INSTALLED_MS. */
function installedClis(
  { lanes }: Pick<Config, 'lanes'>,
  path: string,
  clock: () => number,
): () => Record<string, boolean> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let found: Record<string, boolean> = {};
  return () => {
    const now = clock();
    if (now >= lookedAt && now - lookedAt <= INSTALLED_MS) return found;
    lookedAt = now;
    found = Object.fromEntries(lanes.map((lane) => [lane.id, findExecutable(lane.command, path) !== null]));
    return found;
  };
}
