import { every, type Repeated } from './every.js';
import type { FollowedControls } from './follow-controls.js';
import { collectGarbage } from './gc/gc.js';
import { heartbeat } from './heartbeat.js';
import type { LaneKeeper } from './lane-keeper.js';
import { loseNodes, tellOfNode } from './lost-nodes.js';
import type { RecentEnds } from './recent-ends.js';
import type { Resources } from './resources.js';
import type { Roster } from './roster.js';
import { assertDelivered, scan } from './scan.js';
import { sweep } from './sweeper.js';

/** What this process repeats beside its work. */
export interface Upkeep {
  /** The rounds that work depends on, by name: one that stands still is a fault of this box (health.ts). */
  rounds: Readonly<Record<string, Pick<Repeated, 'sinceRound'>>>;
  stop(): Promise<void>;
}

type Parts = {
  resources: Resources;
  roster: Roster;
  ends: RecentEnds;
  keeper: Pick<LaneKeeper, 'look'>;
  controls: Pick<FollowedControls, 'read'>;
  /** No other node can reach this Redis: after a scan every run there can be has been asserted. */
  soleNode: boolean;
};

const RECOUNT_MS = 60_000;
/** After Redis came back, deliveries of this box are asserted for this long, ms: longer than any delivery takes. */
const ASSERT_DELIVERED_MS = 30_000;
const GC_MS = 3_600_000;
/** The first collection waits until a start has done everything else, ms. */
const FIRST_GC_MS = 60_000;

/** Scans once, so that every run of this node is found before its first fetch; then repeats everything. */
export async function startUpkeep({ resources, roster, ends, keeper, controls, soleNode }: Parts): Promise<Upkeep> {
  const { redis, gate, config, log } = resources;
  const { timing } = config;
  /** Redis may have forgotten what was delivered, and what was being delivered when it fell is noted only later. */
  let backAt = performance.now();
  const look = async (): Promise<void> => {
    if (performance.now() - backAt < ASSERT_DELIVERED_MS) await assertDelivered(resources, ends.attempts());
    await scan(resources, roster);
    if (soleNode) await gate.asserted();
  };
  await look();

  const collecting = every(GC_MS, 'removing what is kept no longer', () => collectGarbage(resources, false), log);
  const firstCollection = setTimeout(() => void collecting.now(), FIRST_GC_MS);
  const rounds = {
    'the scan': every(timing.sweepMs, 'the scan', look, log),
    'the sweeper': every(timing.sweepMs, 'the sweeper', () => sweep(resources), log),
    'the heartbeat': every(timing.heartbeatMs, 'the heartbeat', () => heartbeat(resources, roster), log),
  };
  const lostNodesMs = Math.max(timing.sweepMs, timing.heartbeatMs);
  const all = [
    ...Object.values(rounds),
    every(timing.heartbeatMs, 'looking for deaf queue workers', () => keeper.look(), log),
    every(timing.heartbeatMs, 'telling of this node', () => tellOfNode(resources), log),
    every(lostNodesMs, 'looking for nodes that are gone', () => loseNodes(resources), log),
    every(timing.heartbeatMs, 'reading pauses, drains and slots', () => controls.read(), log),
    every(RECOUNT_MS, 'the recount', () => recount(resources), log),
    collecting,
  ];
  await tellOfNode(resources);
  await recount(resources);
  // Redis is back: files win about processes, and cancels may have been missed.
  const back = (): void => {
    backAt = performance.now();
    for (const part of all) void part.now();
  };
  redis.on('ready', back);

  return {
    rounds,
    async stop() {
      redis.off('ready', back);
      clearTimeout(firstCollection);
      await Promise.all(all.map((part) => part.stop()));
    },
  };
}

async function recount({ gate, log }: Pick<Resources, 'gate' | 'log'>): Promise<void> {
  for (const account of gate.accounts()) {
    const off = await gate.recount(account);
    if (Object.keys(off).length > 0) log.warn({ account, off }, 'the sums of the gate had drifted and were corrected');
  }
}
