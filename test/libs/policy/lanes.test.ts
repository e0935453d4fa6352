import { describe, expect, test } from 'vitest';
import { at, chosen, configOf, dark, deferred, FOUR, gone, TWO } from './cases.js';
import { decide } from '#policy';

const review = { role: 'review', independentOf: 'codex' } as const;

describe('more than two lanes', () => {
  test('a review goes to the emptiest lane of any other vendor, also of two accounts of one', () => {
    const decision = chosen(review, { codex: at(1), claude: at(40), 'claude-b': at(30), other: at(35) }, FOUR);
    expect(decision).toMatchObject({
      lane: 'claude-b',
      vendor: 'anthropic',
      independence: 'cross-vendor',
      notes: ['cross-model-forced:claude-b'],
      fallback: null,
    });
  });

  test('two accounts of one vendor are not independent of each other', () => {
    const facts = { codex: at(99), claude: at(1), 'claude-b': at(1), other: gone };
    expect(chosen({ role: 'review', independentOf: 'claude' }, facts, FOUR)).toMatchObject({
      lane: 'claude',
      independence: 'same-vendor',
      degradedReview: true,
      tier: 'frontier',
      notes: ['degraded-review:exhausted', 'degraded-review-raised'],
    });
    expect(deferred({ role: 'review', independentOf: 'claude', strictIndependence: true }, facts, FOUR)).toMatchObject({
      reasonCode: 'strict-independence',
    });
  });

  test('independence of a vendor means all its lanes', () => {
    expect(
      chosen(
        { role: 'judge', independentOf: 'anthropic' },
        { codex: at(60), claude: at(1), 'claude-b': at(1), other: at(50) },
        FOUR,
      ),
    ).toMatchObject({ lane: 'codex', independence: 'cross-vendor' });
  });

  test('a degraded review takes the better of the producer’s lanes', () => {
    const facts = { codex: gone, claude: at(96), 'claude-b': at(20), other: gone };
    expect(chosen({ role: 'review', independentOf: 'claude' }, facts, FOUR)).toMatchObject({
      lane: 'claude-b',
      notes: ['degraded-review:missing', 'degraded-review-raised'],
    });
  });

  test('one exhausted lane among missing ones names the degradation', () => {
    expect(chosen(review, { codex: at(5), claude: gone, 'claude-b': at(97), other: gone }, FOUR).notes[0]).toBe(
      'degraded-review:exhausted',
    );
  });

  test('strict deferral names the first foreign lane in order and waits for foreign lanes only', () => {
    const facts = {
      codex: at(1, { nextResetAt: '2026-01-01T00:00:00Z' }),
      claude: at(99, { nextResetAt: '2026-01-03T00:00:00Z' }),
      'claude-b': at(99.5, { installed: false, nextResetAt: '2025-12-31T00:00:00Z' }),
      other: at(97, { nextResetAt: '2026-01-02T00:00:00Z' }),
    };
    expect(deferred({ ...review, strictIndependence: true }, facts, FOUR)).toMatchObject({
      reasonCode: 'strict-independence',
      independence: 'none',
      notes: ['cross-model-forced:other'],
      resumeAfter: '2026-01-02T00:00:00Z',
    });
  });

  test('the fallback is the next usable lane in order', () => {
    expect(chosen({}, { codex: at(5), claude: at(96), 'claude-b': at(40), other: at(20) }, FOUR).fallback).toBe(
      'other',
    );
  });

  test('equal lanes keep the order of the config, after the preferred one', () => {
    const even = { codex: at(10), claude: at(10), 'claude-b': at(10), other: at(10) };
    const config = { ...FOUR, preference: { first: 'other', weightPoints: 0 } };
    expect(decide({}, even, config).candidates.map(({ lane }) => lane)).toEqual([
      'other',
      'codex',
      'claude',
      'claude-b',
    ]);
  });

  test('a dark meter borrows the lowest known percent, less the malus where the lane is not preferred', () => {
    const scores = Object.fromEntries(
      decide({}, { codex: dark, claude: at(30), 'claude-b': at(50), other: dark }, FOUR).candidates.map(
        ({ lane, score }) => [lane, score],
      ),
    );
    expect(scores).toEqual({ codex: 17, claude: 7, 'claude-b': 5, other: 5 });
  });

  test('with no reading anywhere every lane counts as empty', () => {
    expect(decide({}, {}, TWO).candidates.map(({ lane, score }) => [lane, score])).toEqual([
      ['codex', 20],
      ['claude', 8],
    ]);
  });

  test('a lane named like an object’s own machinery is just a lane', () => {
    const config = configOf(
      JSON.parse('{"lanes":{"constructor":{"vendor":"x","models":{"fast":"f","balanced":"b","frontier":"t"}}}}'),
    );
    expect(decide({ pin: 'constructor' }, {}, config)).toMatchObject({
      ok: true,
      lane: 'constructor',
      model: 'b',
      effort: null,
      states: { constructor: 'unknown' },
    });
  });
});

describe('states', () => {
  test('no CLI outranks the meter, no reading outranks a full one, a hard block outranks a low one', () => {
    const states = (facts: Parameters<typeof decide>[1]): unknown => decide({}, facts, TWO).states;
    expect(states({ codex: at(99, { installed: false }), claude: { available: false, worstPercent: 99 } })).toEqual({
      codex: 'missing',
      claude: 'unknown',
    });
    expect(states({ codex: at(1, { hardBlocked: true }), claude: at(94.99) })).toEqual({
      codex: 'exhausted',
      claude: 'critical',
    });
  });

  test('a hard block that only a reading could tell says nothing without one', () => {
    expect(decide({}, { codex: { available: false, hardBlocked: true }, claude: at(5) }, TWO)).toMatchObject({
      lane: 'codex',
      states: { codex: 'unknown' },
    });
  });

  test('a closing of our own holds on a dark meter: a refusal outranks the meter', () => {
    const closed = {
      available: false,
      hardBlocked: true,
      blockedBy: 'usage_limit',
      nextResetAt: '2026-01-01T00:00:00Z',
    };
    expect(chosen({}, { codex: closed, claude: at(50) }, TWO)).toMatchObject({
      lane: 'claude',
      states: { codex: 'exhausted' },
      fallback: null,
    });
    expect(deferred({ pin: 'codex' }, { codex: closed }, TWO).resumeAfter).toBe('2026-01-01T00:00:00Z');
  });
});

describe('windows scoped to a model family', () => {
  const opusSpent = at(20, {
    scoped: [{ scope: 'opus', percent: 99, resetsAt: '2026-01-09T00:00:00Z' }],
    nextResetAt: '2026-01-01T00:00:00Z',
  });

  test('bind only the tasks that would run that family', () => {
    expect(chosen({ pin: 'claude' }, { claude: opusSpent }, TWO)).toMatchObject({
      model: 'sonnet',
      states: { claude: 'ok' },
    });
    expect(
      chosen({ role: 'judge', complexity: 5, length: 'xl' }, { codex: at(80), claude: opusSpent }, TWO),
    ).toMatchObject({ lane: 'codex', states: { claude: 'exhausted' }, fallback: null });
  });

  test('are counted for the tier after corrections 1–4', () => {
    const bulk = { role: 'synthesis', complexity: 3, length: 'xl', contextTokens: 200_000, pin: 'claude' } as const;
    expect(chosen(bulk, { claude: opusSpent }, TWO)).toMatchObject({
      model: 'sonnet',
      notes: ['bulk-context-downgrade', 'provider-pinned:claude'],
    });
  });

  test('are counted for a model that the person named', () => {
    const spent = at(20, { scoped: [{ scope: 'fable', percent: 96 }] });
    expect(deferred({ pin: 'claude', pinModel: 'fable' }, { claude: spent }, TWO).states).toMatchObject({
      claude: 'exhausted',
    });
    expect(chosen({ pin: 'claude' }, { claude: spent }, TWO).states).toMatchObject({ claude: 'ok' });
  });

  test('say when this task could run: every window over the limit has to reset', () => {
    const judge = { role: 'judge', complexity: 5, length: 'xl', pin: 'claude' } as const;
    expect(deferred(judge, { claude: opusSpent }, TWO).resumeAfter).toBe('2026-01-09T00:00:00Z');
    const both = { ...opusSpent, worstPercent: 97, nextResetAt: '2026-01-12T00:00:00+02:00' };
    expect(deferred(judge, { claude: both }, TWO).resumeAfter).toBe('2026-01-12T00:00:00+02:00');
    expect(deferred(judge, { claude: { ...both, nextResetAt: null } }, TWO).resumeAfter).toBeNull();
  });

  test('keep a degraded review on its tier where the raised tier’s family is spent, and say so', () => {
    expect(
      chosen({ role: 'review', independentOf: 'claude' }, { codex: at(99), claude: opusSpent }, TWO),
    ).toMatchObject({
      model: 'sonnet',
      tier: 'balanced',
      independence: 'same-vendor',
      notes: ['degraded-review:exhausted', 'degraded-review-not-raised'],
    });
  });

  test('keep frontier on a critical account where the cheaper family is spent', () => {
    const facts = { claude: at(90, { scoped: [{ scope: 'Sonnet', percent: 95 }] }) };
    expect(chosen({ role: 'architecture', complexity: 5, pin: 'claude' }, facts, TWO)).toMatchObject({
      model: 'opus',
      notes: ['provider-pinned:claude'],
    });
  });
});
