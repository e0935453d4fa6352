import { describe, expect, test } from 'vitest';
import { at, chosen, deferred, FOUR, gone, TWO } from './cases.js';

const open = { codex: at(5), claude: at(5) };

describe('a pin', () => {
  test('defers when its lane is out, until that lane’s own reset, with the notes of its rule and none of the later ones', () => {
    const facts = {
      codex: at(5, { nextResetAt: '2026-01-01T00:00:00Z' }),
      claude: at(97, { nextResetAt: '2026-01-05T00:00:00Z' }),
    };
    const decision = deferred(
      { role: 'judge', complexity: 1, length: 'xs', pin: 'claude', pinModel: 'fable' },
      facts,
      TWO,
    );
    expect(decision).toMatchObject({
      reasonCode: 'both-out',
      detail: 'pinned-lane-out',
      resumeAfter: '2026-01-05T00:00:00Z',
      independence: null,
      notes: ['judge-review-floor', 'provider-pinned:claude'],
    });
  });

  test('on a missing lane defers without a time: no reset brings a CLI', () => {
    expect(
      deferred({ pin: 'codex' }, { codex: { ...gone, nextResetAt: '2026-01-01T00:00:00Z' }, claude: at(1) }, TWO),
    ).toMatchObject({ detail: 'pinned-lane-out', resumeAfter: null });
  });

  test('waits for no reset that a person has to bring about', () => {
    const facts = { codex: at(5, { hardBlocked: true, blockedBy: 'auth', nextResetAt: '2026-01-01T00:00:00Z' }) };
    expect(deferred({ pin: 'codex' }, facts, TWO).resumeAfter).toBeNull();
  });

  test('on a foreign vendor is cross-vendor and forces nothing', () => {
    expect(chosen({ role: 'review', independentOf: 'codex', pin: 'claude' }, open, TWO)).toMatchObject({
      independence: 'cross-vendor',
      degradedReview: false,
      notes: ['provider-pinned:claude'],
    });
    expect(
      chosen({ role: 'review', independentOf: 'codex', pin: 'claude', strictIndependence: true }, open, TWO),
    ).toMatchObject({ lane: 'claude', independence: 'cross-vendor' });
  });

  test('on another account of the producer’s vendor is a degraded review', () => {
    expect(
      chosen({ role: 'review', independentOf: 'claude', pin: 'claude-b' }, { 'claude-b': at(5) }, FOUR),
    ).toMatchObject({
      independence: 'same-vendor',
      degradedReview: true,
      notes: ['provider-pinned:claude-b', 'degraded-review:pinned', 'degraded-review-raised'],
    });
  });

  test('on the producer and strict can’t be satisfied, should the real producer turn out so after submit', () => {
    expect(
      deferred({ role: 'review', independentOf: 'codex', pin: 'codex', strictIndependence: true }, open, TWO),
    ).toMatchObject({
      reasonCode: 'strict-independence',
      independence: 'none',
      resumeAfter: null,
      notes: ['provider-pinned:codex'],
    });
  });

  test('that is strict, foreign and out defers as a pin: a pin outranks independence', () => {
    expect(
      deferred(
        { role: 'review', independentOf: 'codex', pin: 'claude', strictIndependence: true },
        { claude: at(99) },
        TWO,
      ),
    ).toMatchObject({
      reasonCode: 'both-out',
      detail: 'pinned-lane-out',
      independence: 'none',
    });
  });
});

describe('a named model', () => {
  test('is noted after the lane, and keeps the tier’s effort through later corrections', () => {
    const task = { role: 'architecture', complexity: 5, length: 'xl', pin: 'claude', pinModel: 'fable' } as const;
    expect(chosen(task, { claude: at(90) }, TWO)).toMatchObject({
      model: 'fable',
      effort: 'medium',
      tier: 'balanced',
      notes: ['provider-pinned:claude', 'model-pinned', 'critical-downgrade'],
    });
  });

  test('stays with the lane it was first put on', () => {
    const task = { pinModel: 'gpt-x', pinModelLane: 'codex' };
    expect(chosen(task, open, TWO)).toMatchObject({ lane: 'codex', model: 'gpt-x', notes: ['model-pinned'] });
    expect(chosen(task, { codex: at(99), claude: at(5) }, TWO)).toMatchObject({
      lane: 'claude',
      model: 'sonnet',
      notes: [],
    });
  });

  test('that does not answer gives way to the tier’s own, and the decision says so', () => {
    expect(chosen({ pinModel: 'gpt-x', modelsOut: ['codex/gpt-x'] }, open, TWO)).toMatchObject({
      model: 'gpt-5.6-terra',
      notes: ['model-unavailable:gpt-x'],
    });
  });
});

describe('what this dispatch has already met', () => {
  test('a model that did not answer is replaced by the tier above, then below, never under the floor of the role', () => {
    expect(chosen({ modelsOut: ['codex/gpt-5.6-terra'] }, open, TWO)).toMatchObject({
      lane: 'codex',
      model: 'gpt-5.6-sol',
      effort: 'high',
      tier: 'frontier',
      notes: ['model-unavailable:gpt-5.6-terra'],
    });
    expect(chosen({ modelsOut: ['codex/gpt-5.6-terra', 'codex/gpt-5.6-sol'] }, open, TWO)).toMatchObject({
      lane: 'codex',
      model: 'gpt-5.6-luna',
    });
    expect(
      chosen({ role: 'review', modelsOut: ['codex/gpt-5.6-terra', 'codex/gpt-5.6-sol'] }, open, TWO),
    ).toMatchObject({ lane: 'claude', model: 'sonnet' });
  });

  test('a lane whose models are all out is none for it', () => {
    const out = ['fast', 'balanced', 'frontier'].map((tier) => `other/third-${tier}`);
    expect(
      chosen({ pin: 'codex', modelsOut: out }, open, FOUR).candidates.find(({ lane }) => lane === 'other')?.score,
    ).toBeLessThan(-900);
    expect(deferred({ pin: 'other', modelsOut: out }, open, FOUR)).toMatchObject({
      detail: 'pinned-lane-out',
      resumeAfter: null,
    });
    const full = { other: at(99, { nextResetAt: '2026-01-01T00:00:00Z' }) };
    expect(deferred({ pin: 'other', modelsOut: out }, full, FOUR).resumeAfter).toBeNull();
  });

  test('a lane it left for a closed window is not offered again, nor as fallback', () => {
    expect(chosen({ lanesOut: ['codex'] }, open, TWO)).toMatchObject({ lane: 'claude', fallback: null });
    expect(chosen({ role: 'review', independentOf: 'codex', lanesOut: ['claude'] }, open, TWO)).toMatchObject({
      lane: 'codex',
      notes: ['degraded-review:exhausted', 'degraded-review-raised'],
    });
    expect(
      deferred(
        { lanesOut: ['codex', 'claude'] },
        { codex: at(5, { nextResetAt: '2026-01-01T00:00:00Z' }), claude: at(5) },
        TWO,
      ).resumeAfter,
    ).toBe('2026-01-01T00:00:00Z');
  });
});
