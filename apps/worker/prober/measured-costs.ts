import type { Redis } from 'ioredis';
import { TIERS, type Config, type CostVector, type LaneConfig, type MeterReading, type WindowKind } from '#contract';
import { laneCost, thousandths, type CostsOf } from '#gate';
import { costOf, inScope } from '#policy';
import { keys } from '#store';

/**
 * Points of one window that an attempt of a lane and tier is taken to cost. `measured`: by how many samples; 0: the
 * configuration's word.
 */
export type CostRow = { lane: string; tier: string; window: string; points: number; measured: number };

/** What attempts are taken to cost, as measured; the table is read from Redis and asked without waiting. */
export interface MeasuredCosts {
  of: CostsOf;
  rows(account: string): CostRow[];
  /** A reading names windows that are new to this process: they are charged from now on. */
  saw(reading: MeterReading): void;
  refresh(): Promise<void>;
}

type Known = { windows: { id: string; kind: WindowKind; scope: string | null }[]; samples: Map<string, number[]> };

export function measuredCosts(redis: Redis, config: Config): MeasuredCosts {
  const known = new Map<string, Known>();

  const rowOf = (lane: LaneConfig, tier: string, window: Known['windows'][number]): CostRow | null => {
    const model = TIERS.map((word) => ({ word, model: lane.models[word].model })).find(
      ({ word }) => word === tier,
    )?.model;
    if (window.scope !== null && (model === undefined || !inScope(window.scope, model))) return null;
    const samples =
      known.get(lane.account)?.samples.get(keys.costs(lane.account).samples(lane.id, tier, window.id)) ?? [];
    const measured = costOf(samples);
    return {
      lane: lane.id,
      tier,
      window: window.id,
      points: measured ?? lane.cost[window.kind],
      measured: measured === null ? 0 : samples.length,
    };
  };

  return {
    of(lane, tier) {
      const vector: CostVector = laneCost(lane);
      // Named with 0 where it does not bind: a bind to this tier must give back what the dearest one reserved in it.
      for (const window of known.get(lane.account)?.windows ?? [])
        vector[window.id] = thousandths(rowOf(lane, tier, window)?.points ?? 0);
      return vector;
    },
    rows: (account) =>
      config.lanes
        .filter((lane) => lane.account === account)
        .flatMap((lane) =>
          TIERS.flatMap((tier) =>
            (known.get(account)?.windows ?? []).flatMap((window) => rowOf(lane, tier, window) ?? []),
          ),
        ),
    saw({ account, windows }) {
      const before = known.get(account) ?? { windows: [], samples: new Map<string, number[]>() };
      const fresh = windows
        .filter(({ id }) => !before.windows.some((one) => one.id === id))
        .map(({ id, kind, scope }) => ({ id, kind, scope }));
      if (fresh.length > 0) known.set(account, { ...before, windows: [...before.windows, ...fresh] });
    },
    async refresh() {
      for (const account of new Set(config.lanes.map((lane) => lane.account))) {
        const [text, lists] = await Promise.all([
          redis.hget(keys.gate(account).meter, 'windows'),
          redis.smembers(keys.costs(account).index),
        ]);
        const samples = await Promise.all(
          lists.map(async (list) => [list, (await redis.lrange(list, 0, -1)).map(Number)] as const),
        );
        const windows = Object.entries(
          JSON.parse(text ?? '{}') as Record<string, { kind: WindowKind; scope?: string }>,
        ).map(([id, { kind, scope }]) => ({ id, kind, scope: scope ?? null }));
        known.set(account, { windows, samples: new Map(samples) });
      }
    },
  };
}
