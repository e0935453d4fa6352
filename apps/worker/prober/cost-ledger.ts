import type { Redis } from 'ioredis';
import { thrownMessage, type MeterReading } from '#contract';
import {
  EMPTY_LEDGER,
  MOST_SAMPLES,
  readingTaken,
  runBegan,
  runDropped,
  runEnded,
  type CostLedger,
  type CostRunFacts,
  type CostSample,
} from '#policy';
import { evaluate, keys, script } from '#store';
import type { Log } from '../resources.js';
import text from './lua/cost-ledger.lua';

const operation = script('cost-ledger', text);

/** Other boxes write the same ledger; each try reads it again. */
const TRIES = 20;

/**
 * The runs whose cost is being measured, shared by all boxes. Times by the shared clock. Its methods never throw.
 */
export interface CostLedgers {
  began(account: string, id: string, run: CostRunFacts): void;
  ended(account: string, id: string, run: CostRunFacts & { to: number }): void;
  /** It says nothing about the cost of an attempt that works. */
  dropped(account: string, id: string): void;
  reading(reading: MeterReading): void;
  /** What was told so far is written. */
  written(): Promise<void>;
}

type Change = (ledger: CostLedger) => { ledger: CostLedger; samples: CostSample[] };

export function costLedgers(redis: Redis, log: Log, sampled: (account: string) => void = () => undefined): CostLedgers {
  const queues = new Map<string, Promise<void>>();

  /** One at a time in this process, in the order told; compare-and-set against the others. */
  function change(account: string, step: Change): void {
    const next = (queues.get(account) ?? Promise.resolve())
      .then(() => apply(account, step))
      .catch((error: unknown) =>
        log.warn({ account, error: thrownMessage(error) }, 'a step of measuring costs was lost'),
      );
    queues.set(account, next);
  }

  async function apply(account: string, step: Change): Promise<void> {
    const names = keys.costs(account);
    for (let tries = 0; tries < TRIES; tries++) {
      const [version, known] = await redis.hmget(names.ledger, 'version', 'text');
      const before = parsed(known ?? null);
      const { ledger, samples } = step(before);
      if (ledger === before) return;
      const pushed = samples.map(({ lane, tier, window, points }) => ({
        key: names.samples(lane, tier, window),
        points: String(Number(points.toFixed(4))),
      }));
      const argument = { version: version ?? '0', text: JSON.stringify(ledger), samples: pushed, most: MOST_SAMPLES };
      if ((await evaluate(redis, operation, [names.ledger, names.index], argument)) === 1) {
        if (samples.length > 0) sampled(account);
        return;
      }
    }
    throw new Error('the ledger is always being changed by others');
  }

  const plain = (ledger: CostLedger): { ledger: CostLedger; samples: CostSample[] } => ({ ledger, samples: [] });
  return {
    began: (account, id, run) => change(account, (ledger) => plain(runBegan(ledger, id, run))),
    ended: (account, id, run) => change(account, (ledger) => plain(runEnded(ledger, id, run))),
    dropped: (account, id) => change(account, (ledger) => plain(runDropped(ledger, id))),
    reading: ({ account, writtenAt: at, windows }) =>
      change(account, (ledger) => readingTaken(ledger, { at, windows })),
    async written() {
      await Promise.all(queues.values());
    },
  };
}

/** A ledger that can't be read is replaced by an empty one: measuring starts over, nothing else is lost. */
function parsed(known: string | null): CostLedger {
  try {
    return known === null ? EMPTY_LEDGER : (JSON.parse(known) as CostLedger);
  } catch {
    return EMPTY_LEDGER;
  }
}
