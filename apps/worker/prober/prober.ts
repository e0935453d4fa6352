import type { LaneConfig, LimitsData } from '#contract';
import type { Gate } from '#gate';
import { keys, queueName } from '#store';
import type { Redis } from 'ioredis';
import { every } from '../every.js';
import type { MeterFeed } from '../meter-feed.js';
import type { Resources } from '../resources.js';
import type { Asked } from './claude-probe.js';
import { isActive, isDue } from './due.js';
import { limitsData, type AccountFacts } from './limits-data.js';
import type { LoginKeeper } from './login-keeper.js';
import type { MeasuredCosts } from './measured-costs.js';
import { needOf } from './need.js';
import type { SharedTime } from './shared-time.js';
import type { Turns } from './turns.js';

/**
 * Keeps the meters fresh while anything waits or runs, and leaves the vendors alone while nothing does. What it finds is
 * also the picture for readers (meters.json, GET /v1/limits).
 */
export interface Prober {
  /** Something waits for this account on this node, in any of its lanes. */
  isWaiting(account: string): Promise<boolean>;
  /** The picture now. */
  limits(): Promise<LimitsData>;
  /** Asks every source that may be asked, waits for the answers, and gives the picture. */
  refresh(): Promise<LimitsData>;
  /** Something has begun here: the next turn of the timer looks, however idle it was. */
  poke(): void;
  /** One look at what is due; the timer's, and a test's. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

export type ProberParts = Pick<Resources, 'config' | 'node' | 'log'> & {
  /** A connection of its own: what is asked here must not stand in the lane workers' way. */
  redis: Redis;
  gate: Gate;
  meters: MeterFeed;
  time: SharedTime;
  turns: Turns;
  keeper: LoginKeeper;
  costs: MeasuredCosts;
  /** Asks a claude lane's usage endpoint, if it is its turn. */
  claude: (lane: LaneConfig, asked?: boolean) => Promise<Asked>;
  /** Lanes whose CLI the daemon finds. */
  installed: () => Record<string, boolean>;
  picture: (data: LimitsData) => void;
};

/** While nothing waits or runs, look this often whether that is still so, ms. */
const IDLE_LOOK_MS = 5_000;
/** How often the costs that other boxes measured are read, ms. */
const COSTS_MS = 10_000;
/** How often codex's files are read for the costs of runs that have ended, ms. */
const UNSETTLED_LOOK_MS = 60_000;

export function startProber(parts: ProberParts): Prober {
  const { config, node, log, redis, gate, meters, time, turns, keeper, costs, claude, installed, picture } = parts;
  const accounts = [...new Set(config.lanes.map((lane) => lane.account))];
  const lanesOf = (account: string): LaneConfig[] => config.lanes.filter((lane) => lane.account === account);
  const codexLooked = new Map<string, number>();
  let active = true;
  let looked = Number.NEGATIVE_INFINITY;
  let costsRead = Number.NEGATIVE_INFINITY;

  async function isWaiting(account: string): Promise<boolean> {
    const queues = lanesOf(account).flatMap((lane) => [queueName(lane.id, node), queueName(lane.id, 'any')]);
    const counts = await Promise.all(queues.map((queue) => redis.hgetall(keys.waiting(queue))));
    return counts.some((count) =>
      Object.entries(count).some(([field, n]) => field.startsWith('tier:') && Number(n) > 0),
    );
  }

  /** @returns whether the next look should come soon */
  async function lookAt(account: string, now: number): Promise<boolean> {
    const snapshot = await gate.snapshot(account);
    const [waiting, { okAt }] = await Promise.all([isWaiting(account), turns.state(account)]);
    const lanes = lanesOf(account);
    const need = needOf(snapshot, { lanes, waiting, okAt, now }, config);
    const [first] = lanes;
    const busy = need.waiting || need.inFlight > 0;
    if (first?.kind === 'codex') {
      const since = now - (codexLooked.get(account) ?? Number.NEGATIVE_INFINITY);
      // Local files: the first look is free, and gives the first decision something to go by. The costs of runs that
      // have ended are settled by the next run's reading, or by a person's; they are in no hurry.
      const due = (busy && since >= first.freshnessMs) || (need.unsettled && since >= UNSETTLED_LOOK_MS);
      if (due || !codexLooked.has(account)) await lookAtCodex(first, now, false);
      return busy;
    }
    const asked = first && isDue(need) ? await claude(first) : null;
    // No source can be asked now: looking again each second would change nothing.
    return busy || (isActive(need) && asked?.how !== 'dark' && asked?.how !== 'backing-off');
  }

  async function lookAtCodex(lane: LaneConfig, now: number, whole: boolean): Promise<void> {
    codexLooked.set(lane.account, now);
    const probe = await meters.codexIdle(lane, whole);
    if (probe.kind === 'dark') await turns.note(lane.account, probe, 3 * lane.freshnessMs);
    else await turns.found(lane.account);
  }

  /** A person waits: a login that has to be renewed first is waited for, once. */
  async function askedOf(lane: LaneConfig): Promise<void> {
    if ((await claude(lane, true)).how !== 'login') return;
    await keeper.settled();
    await claude(lane, true);
  }

  async function limits(): Promise<LimitsData> {
    const here = installed();
    const [{ now, offsetMs }, facts] = await Promise.all([
      time(),
      Promise.all(
        accounts.map(async (account): Promise<AccountFacts> => ({
          snapshot: await gate.snapshot(account),
          source: await turns.state(account),
          costs: costs.rows(account),
        })),
      ),
      Promise.all(config.lanes.map((lane) => keeper.hold(lane))),
    ]);
    const lanes = Object.fromEntries(
      config.lanes.map((lane) => [
        lane.id,
        { installed: here[lane.id] ?? false, hold: keeper.lastHold(lane)?.why ?? null },
      ]),
    );
    return limitsData(config, facts, lanes, now, offsetMs);
  }

  async function look(): Promise<void> {
    const { now } = await time();
    if (!active && now >= looked && now - looked < IDLE_LOOK_MS) return;
    looked = now;
    if (now < costsRead || now - costsRead >= COSTS_MS) {
      costsRead = now;
      await costs.refresh();
    }
    active = (await Promise.all(accounts.map((account) => lookAt(account, now)))).some(Boolean);
    picture(await limits());
  }

  const looking = every(config.timing.probeMs, 'the prober', look, log);
  void looking.now();

  return {
    isWaiting,
    limits,
    async refresh() {
      const { now } = await time();
      await Promise.all(
        accounts.map(async (account) => {
          const first = lanesOf(account)[0];
          if (first?.kind === 'codex') await lookAtCodex(first, now, true);
          else if (first) await askedOf(first);
        }),
      );
      await costs.refresh();
      const data = await limits();
      picture(data);
      return data;
    },
    poke() {
      active = true;
    },
    look,
    stop: () => looking.stop(),
  };
}
