import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LENGTHS, ROLES, TIERS, type LaneFacts, type LanesFacts, type PolicyConfig, type Task } from '#contract';
import { decide, producerVendor, readTaskValues, tierOf, weightOf } from '#policy';
import { FOUR } from './cases.js';

const ids = FOUR.lanes.map(({ id }) => id);
const percent = fc.oneof(fc.integer({ min: 0, max: 120 }), fc.double({ min: 0, max: 120, noNaN: true }));
const reset = fc.option(
  fc.integer({ min: 0, max: 40 }).map((day) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString()),
);

const laneFacts: fc.Arbitrary<LaneFacts> = fc.record(
  {
    available: fc.boolean(),
    worstPercent: percent,
    nextResetAt: reset,
    hardBlocked: fc.boolean(),
    installed: fc.boolean(),
    scoped: fc.array(
      fc.record({ scope: fc.constantFrom('opus', 'sonnet', 'third', 'gpt'), percent, resetsAt: reset }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['available'] },
);

const lanesFacts: fc.Arbitrary<LanesFacts> = fc
  .tuple(...ids.map(() => fc.option(laneFacts, { nil: undefined, freq: 6 })))
  .map((all) => Object.fromEntries(all.flatMap((facts, i) => (facts === undefined ? [] : [[ids[i] ?? '', facts]]))));

const task: fc.Arbitrary<Task> = fc.record(
  {
    role: fc.constantFrom(...ROLES),
    complexity: fc.integer({ min: 1, max: 5 }),
    length: fc.constantFrom(...LENGTHS),
    contextTokens: fc.constantFrom(0, 119_999, 120_000),
    needsSchema: fc.boolean(),
    needsRepoWrite: fc.boolean(),
    independentOf: fc.constantFrom(...ids, 'openai', 'anthropic', 'thirdlab'),
    strictIndependence: fc.boolean(),
    pin: fc.constantFrom(...ids),
    pinModel: fc.constantFrom('fable', 'gpt-x'),
    modelsOut: fc.subarray(
      FOUR.lanes.flatMap(({ id, models }) => TIERS.map((tier) => `${id}/${models[tier].model}`)),
      { maxLength: 4 },
    ),
    lanesOut: fc.subarray(ids, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const config: fc.Arbitrary<PolicyConfig> = fc.record({
  lanes: fc.shuffledSubarray([...FOUR.lanes], { minLength: 1 }),
  preference: fc.record({ first: fc.constantFrom(...ids), weightPoints: fc.integer({ min: 0, max: 200 }) }),
  pressure: fc.constantFrom(
    FOUR.pressure,
    { tight: 98, critical: 99, exhausted: 100 },
    { tight: 50, critical: 70, exhausted: 80 },
  ),
});

describe('whatever the task, the facts and the config', () => {
  test('the same facts give the same decision, and nothing is changed on the way', () => {
    fc.assert(
      fc.property(task, lanesFacts, config, (task, facts, config) => {
        const before = JSON.stringify([task, facts, config]);
        expect(decide(task, facts, config)).toEqual(
          decide(structuredClone(task), structuredClone(facts), structuredClone(config)),
        );
        expect(JSON.stringify([task, facts, config])).toBe(before);
      }),
    );
  });

  test('a decision is replayed from the factors and the facts it carries', () => {
    fc.assert(
      fc.property(task, lanesFacts, (task, facts) => {
        const first = decide(task, facts, FOUR);
        const kept = JSON.parse(JSON.stringify(first)) as typeof first;
        const reading = readTaskValues(kept.factors, FOUR);
        if (!reading.ok) throw new Error('its own factors were refused');
        expect(decide(reading.task, kept.facts, FOUR)).toMatchObject({ ...kept, facts: expect.anything() as unknown });
      }),
    );
  });

  test('raising one lane’s percent never improves its rank', () => {
    fc.assert(
      fc.property(task, lanesFacts, config, fc.constantFrom(...ids), percent, (task, facts, config, id, more) => {
        const own = facts[id];
        if (own === undefined) return;
        const rank = (facts: LanesFacts): number =>
          decide(task, facts, config).candidates.findIndex(({ lane }) => lane === id);
        const raised = { ...facts, [id]: { ...own, worstPercent: (own.worstPercent ?? 0) + more } };
        expect(rank(raised)).toBeGreaterThanOrEqual(rank(facts));
      }),
      { numRuns: 1000 },
    );
  });

  test('a decision never names a lane that is missing, exhausted, left, or not there', () => {
    fc.assert(
      fc.property(task, lanesFacts, config, (task, facts, config) => {
        const decision = decide(task, facts, config);
        const named = decision.ok ? [decision.lane, ...(decision.fallback === null ? [] : [decision.fallback])] : [];
        for (const lane of named) {
          expect(['ok', 'tight', 'critical', 'unknown']).toContain(decision.states[lane]);
          expect(task.lanesOut ?? []).not.toContain(lane);
        }
        if (decision.ok) expect(task.modelsOut ?? []).not.toContain(`${decision.lane}/${decision.model}`);
        if (task.pin !== undefined && decision.ok) expect(decision.lane).toBe(task.pin);
      }),
      { numRuns: 1000 },
    );
  });

  test('independence is never broken without its label, and never at all when strict', () => {
    fc.assert(
      fc.property(task, lanesFacts, config, (task, facts, config) => {
        const decision = decide(task, facts, config);
        const producer = producerVendor(task.independentOf, config);
        if (producer === null) {
          expect(decision.independence).toBeNull();
          return;
        }
        if (!decision.ok) {
          expect(decision.independence).toBe('none');
          return;
        }
        const broken = decision.vendor === producer;
        expect(decision.independence).toBe(broken ? 'same-vendor' : 'cross-vendor');
        expect(decision.degradedReview).toBe(broken);
        expect(decision.notes.some((note) => note.startsWith('degraded-review:'))).toBe(broken);
        if (task.strictIndependence) expect(broken).toBe(false);
        if (broken && task.pin === undefined) {
          const foreign = decision.candidates.filter(({ vendor }) => vendor !== producer);
          expect(foreign.every(({ score }) => score < -500)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('a deferral waits only for a lane whose reset would let it run', () => {
    fc.assert(
      fc.property(task, lanesFacts, config, (task, facts, config) => {
        const decision = decide(task, facts, config);
        if (decision.ok || decision.resumeAfter === null) return;
        const opened = Object.fromEntries(
          Object.entries(facts).map(([lane, own]) => {
            const after = (reset: string | null | undefined): boolean =>
              reset !== null && reset !== undefined && reset <= (decision.resumeAfter ?? '');
            const over = (own.worstPercent ?? 0) >= config.pressure.exhausted || own.hardBlocked === true;
            const scoped = (own.scoped ?? []).map((window) =>
              after(window.resetsAt) ? { ...window, percent: 0 } : window,
            );
            return [
              lane,
              over && after(own.nextResetAt)
                ? { ...own, worstPercent: 0, hardBlocked: false, scoped }
                : { ...own, scoped },
            ];
          }),
        );
        expect(decide({ ...task, lanesOut: [] }, opened, config).ok).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('raising complexity never lowers the tier before corrections', () => {
    for (const role of ROLES) {
      for (const length of LENGTHS) {
        const tiers = [1, 2, 3, 4, 5].map((complexity) =>
          TIERS.indexOf(tierOf(weightOf({ role, complexity, length }))),
        );
        expect(tiers).toEqual([...tiers].sort());
      }
    }
  });
});
