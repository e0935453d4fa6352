import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  costOf,
  EMPTY_LEDGER,
  readingTaken,
  runBegan,
  runDropped,
  runEnded,
  type CostLedger,
  type CostSample,
} from '#policy';

const RESET = 10_000_000;
const reading = (
  at: number,
  usedPercent: number,
  more: { id?: string; scope?: string | null; resetsAt?: number | null } = {},
) => ({ at, windows: [{ id: 'five_hour', scope: null, resetsAt: RESET, usedPercent, ...more }] });
const opus = (from: number) => ({ lane: 'claude', tier: 'frontier', model: 'opus', from });
const haiku = (from: number) => ({ lane: 'claude', tier: 'fast', model: 'haiku', from });

/** A ledger driven step by step, with every sample it gave. */
function drive(...steps: ((ledger: CostLedger) => CostLedger | ReturnType<typeof readingTaken>)[]): {
  ledger: CostLedger;
  samples: CostSample[];
} {
  let ledger = EMPTY_LEDGER;
  const samples: CostSample[] = [];
  for (const step of steps) {
    const after = step(ledger);
    if ('samples' in after) samples.push(...after.samples);
    ledger = 'samples' in after ? after.ledger : after;
  }
  return { ledger, samples };
}
const began = (id: string, run: ReturnType<typeof opus>) => (ledger: CostLedger) => runBegan(ledger, id, run);
const ended = (id: string, run: ReturnType<typeof opus>, to: number) => (ledger: CostLedger) =>
  runEnded(ledger, id, { ...run, to });
const read =
  (...args: Parameters<typeof reading>) =>
  (ledger: CostLedger) =>
    readingTaken(ledger, reading(...args));

describe('the cost of an attempt', () => {
  test('is what the window rose by from before it to after its end', () => {
    const { samples, ledger } = drive(
      read(0, 10),
      began('a', opus(1000)),
      read(30_000, 11),
      ended('a', opus(1000), 60_000),
      read(90_000, 13),
    );
    expect(samples).toEqual([{ lane: 'claude', tier: 'frontier', window: 'five_hour', points: 3 }]);
    expect(ledger.runs).toEqual({});
  });

  test('is shared among the runs between two readings by the time they ran', () => {
    const { samples } = drive(
      read(0, 10),
      began('a', opus(0)),
      began('b', haiku(0)),
      ended('b', haiku(0), 8_000),
      ended('a', opus(0), 38_000),
      read(60_000, 15),
    );
    expect(samples.map(({ tier, points }) => [tier, points])).toEqual([
      ['frontier', 4],
      ['fast', 1],
    ]);
  });

  test('is measured for a run whose start was not noted, if no reading fell into it', () => {
    expect(drive(read(0, 10), ended('a', opus(1000), 2000), read(5000, 11)).samples).toHaveLength(1);
    expect(drive(read(0, 10), read(1500, 10), ended('a', opus(1000), 2000), read(5000, 11)).samples).toEqual([]);
  });

  test('gives no sample without a reading from before it', () => {
    expect(drive(began('a', opus(1000)), read(2000, 10), ended('a', opus(1000), 3000), read(5000, 12)).samples).toEqual(
      [],
    );
  });

  test.each([
    [
      'reset in between',
      [read(40_000, 1, { resetsAt: RESET + 18_000_000 }), read(90_000, 2, { resetsAt: RESET + 18_000_000 })],
    ],
    ['reset is no longer told', [read(40_000, 0, { resetsAt: null }), read(90_000, 0, { resetsAt: null })]],
    ['fell', [read(40_000, 9), read(90_000, 12)]],
    ['rose by more than an agent can spend', [read(90_000, 99)]],
  ])('is no sample when the window %s', (_, readings) => {
    expect(drive(read(0, 10), began('a', opus(1000)), ended('a', opus(1000), 50_000), ...readings).samples).toEqual([]);
  });

  test('is measured over a reset that only jitters', () => {
    expect(
      drive(read(0, 10), began('a', opus(1)), ended('a', opus(1), 50), read(90, 12, { resetsAt: RESET + 1000 }))
        .samples,
    ).toHaveLength(1);
  });

  test('in a window of some models is shared among the runs of those models only', () => {
    const scoped = { id: 'weekly:opus', scope: 'opus' };
    const { samples, ledger } = drive(
      read(0, 10, scoped),
      began('a', opus(1)),
      began('b', haiku(1)),
      ended('a', opus(1), 50),
      ended('b', haiku(1), 50),
      read(90, 12, scoped),
    );
    expect(samples).toEqual([{ lane: 'claude', tier: 'frontier', window: 'weekly:opus', points: 2 }]);
    expect(ledger.runs).toEqual({});
  });

  test('of a dropped attempt is charged to no run', () => {
    const { samples } = drive(
      read(0, 10),
      began('a', opus(1)),
      began('b', opus(1)),
      (ledger) => runDropped(ledger, 'a'),
      ended('b', opus(1), 50),
      read(90, 12),
    );
    expect(samples.map(({ points }) => points)).toEqual([2]);
  });

  test('an old reading changes nothing', () => {
    const { ledger } = drive(read(100, 10), began('a', opus(100)));
    expect(readingTaken(ledger, reading(100, 50))).toEqual({ ledger, samples: [] });
  });

  test('a run that no reading completes is forgotten after an hour, one that never ends after two days', () => {
    const { ledger } = drive(
      read(0, 10),
      ended('a', opus(1), 2),
      (l) => runBegan(l, 'lost', opus(1)),
      read(49 * 3_600_000, 10, { id: 'other' }),
    );
    expect(ledger.runs).toEqual({});
  });
});

describe('the estimate', () => {
  test('needs ten samples', () => {
    expect(costOf(Array<number>(9).fill(2))).toBeNull();
    expect(costOf(Array<number>(10).fill(2))).toBe(2);
  });

  test('is the mean of the newest fifty, and never under 0.05', () => {
    expect(costOf([...Array<number>(50).fill(1), ...Array<number>(50).fill(9)])).toBe(1);
    expect(costOf([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])).toBe(0.5);
    expect(costOf(Array<number>(20).fill(0))).toBe(0.05);
  });

  test('leaves out what can be no sample', () => {
    expect(costOf([Number.NaN, -1, 4000, ...Array<number>(10).fill(2)])).toBe(2);
  });
});

test('in any order of events, the shares never add up to more than the window rose by, and none is negative', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('began' as const), id: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ kind: fc.constant('ended' as const), id: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ kind: fc.constant('read' as const), rise: fc.double({ min: 0, max: 10, noNaN: true }) }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.integer({ min: 1, max: 60_000 })), { maxLength: 60 }), (steps) => {
      let [ledger, now, used, given] = [EMPTY_LEDGER, 0, 0, 0];
      for (const [what, ms] of steps) {
        now += ms;
        if (what.kind === 'began') ledger = runBegan(ledger, `r${what.id}`, opus(now));
        else if (what.kind === 'ended') ledger = runEnded(ledger, `r${what.id}`, { ...opus(now - ms), to: now });
        else {
          used += what.rise;
          const after = readingTaken(ledger, reading(now, used, { resetsAt: null }));
          ledger = after.ledger;
          expect(after.samples.every(({ points }) => points >= 0)).toBe(true);
          given += after.samples.reduce((sum, { points }) => sum + points, 0);
        }
      }
      expect(given).toBeLessThanOrEqual(used + 1e-6);
    }),
  );
});
