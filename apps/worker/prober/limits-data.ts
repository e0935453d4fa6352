import type { AccountMeter, Config, LimitsData, MeterLane } from '#contract';
import { pauseOf, type AccountSnapshot, type WindowSnapshot } from '#gate';
import { endpointOf } from '#vendors';
import type { CostRow } from './measured-costs.js';
import { runningOf } from './running.js';
import type { SourceState } from './turns.js';

export type AccountFacts = { snapshot: AccountSnapshot; source: SourceState; costs: CostRow[] };

export type LaneFactsHere = { installed: boolean; hold: string | null };

/**
 * The picture that readers get (pure). Ages are turned into this box's time: they are compared with its clock. Resets
 * are the vendor's and stay.
 * @param offsetMs how far the shared clock is ahead of this box's
 */
export function limitsData(
  config: Config,
  accounts: readonly AccountFacts[],
  lanes: Readonly<Record<string, LaneFactsHere>>,
  now: number,
  offsetMs: number,
): LimitsData {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const here = (ms: number): string => iso(ms - offsetMs);
  const laneOf = (id: string): LaneFactsHere =>
    (Object.hasOwn(lanes, id) ? lanes[id] : undefined) ?? { installed: false, hold: null };
  return {
    node: config.nodeId,
    writtenAt: here(now),
    pressure: config.pressure,
    accounts: accounts.map(({ snapshot, source, costs }): AccountMeter => {
      const { account, windows, pauses, closed, reading, lastEnd } = snapshot;
      const own = config.lanes.filter((lane) => lane.account === account);
      return {
        account,
        lanes: own.map((lane): MeterLane => ({
          id: lane.id,
          vendor: lane.vendor,
          kind: lane.kind,
          command: lane.command,
          endpoint: endpointOf(lane)?.host ?? null,
          ...laneOf(lane.id),
        })),
        windows: windows.map((window) => ({
          ...withoutTokens(window, snapshot),
          resetsAt: window.resetsAt === null ? null : iso(window.resetsAt),
        })),
        inFlight: runningOf(snapshot),
        paused: own.every((lane) => pauseOf({ pauses }, lane.id) !== null),
        closed: closed && { until: iso(closed.until), reason: closed.reason },
        reading: reading && {
          source: reading.source,
          writtenAt: here(reading.writtenAt),
          readAt: here(reading.readAt),
          plan: reading.plan,
          reached: reading.reached && {
            flag: reading.reached.flag,
            resetsAt: reading.reached.resetsAt === null ? null : iso(reading.reached.resetsAt),
          },
          overage: reading.overage,
        },
        freshnessMs: Math.max(...own.map((lane) => lane.freshnessMs)),
        lastRunEndedAt: lastEnd === null ? null : here(lastEnd),
        dark: source.dark && {
          reason: source.dark.reason,
          detail: source.dark.detail,
          since: here(source.dark.since),
          nextTryAt: source.til === null || source.til <= now ? null : here(source.til),
        },
        costs,
      };
    }),
  };
}

/** What a worker reserves for the moment of a fetch is no promise to anybody, and would make the picture flicker. */
function withoutTokens(window: WindowSnapshot, { reservations }: AccountSnapshot): WindowSnapshot {
  const tokens =
    reservations.filter(({ state }) => state === 'token').reduce((sum, { cost }) => sum + (cost[window.id] ?? 0), 0) /
    1000;
  const thousandths = (points: number): number => Number(points.toFixed(3));
  return {
    ...window,
    reserved: thousandths(window.reserved - tokens),
    effective: thousandths(window.effective - tokens),
  };
}
