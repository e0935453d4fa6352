import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { confirm, decide } from '#policy';
import { at, chosen, dark, deferred, FOUR, gone, TWO } from './cases.js';

const start = { codex: at(5), claude: at(5) };
const decision = chosen({}, start, TWO);

describe('at its start a decision', () => {
  test('is kept when another lane scores better', () => {
    expect(confirm(decision, {}, { codex: at(94), claude: at(0) }, TWO)).toEqual({ kind: 'keep' });
    expect(confirm(decision, {}, { codex: dark, claude: at(0) }, TWO)).toEqual({ kind: 'keep' });
    const degraded = chosen({ role: 'review', independentOf: 'codex' }, { codex: at(5), claude: at(99) }, TWO);
    expect(confirm(degraded, { role: 'review', independentOf: 'codex' }, start, TWO)).toEqual({ kind: 'keep' });
  });

  test.each([
    ['exhausted', { codex: at(95, { nextResetAt: '2026-01-01T00:00:00Z' }) }, '2026-01-01T00:00:00Z'],
    ['missing', { codex: gone }, null],
    [
      'closed',
      { codex: at(5, { hardBlocked: true, blockedBy: 'paused', nextResetAt: '2026-01-01T00:00:00Z' }) },
      '2026-01-01T00:00:00Z',
    ],
    ['closed', { codex: at(5, { hardBlocked: true, blockedBy: 'paused', nextResetAt: null }) }, null],
    ['closed', { codex: { ...dark, hardBlocked: true, blockedBy: 'auth' } }, null],
    [
      'closed',
      { codex: at(5, { hardBlocked: true, blockedBy: 'usage_limit', nextResetAt: '2026-01-01T00:00:00Z' }) },
      '2026-01-01T00:00:00Z',
    ],
  ])('is made again when its lane is %s', (code, facts, opensAt) => {
    expect(confirm(decision, {}, { ...start, ...facts }, TWO)).toMatchObject({ kind: 'again', code, opensAt });
  });

  test('is made again for what the dispatch met meanwhile', () => {
    expect(confirm(decision, { lanesOut: ['codex'] }, start, TWO)).toMatchObject({ code: 'lane-left' });
    expect(confirm(decision, { modelsOut: ['codex/gpt-5.6-terra'] }, start, TWO)).toMatchObject({
      code: 'model-unavailable',
    });
    expect(confirm(decision, {}, start, { ...TWO, lanes: TWO.lanes.slice(1) })).toMatchObject({ code: 'lane-gone' });
    expect(confirm(deferred({}, { codex: gone, claude: gone }, TWO), {}, start, TWO)).toMatchObject({
      code: 'deferred',
    });
  });

  test('counts the windows of the model it names', () => {
    const opus = chosen({ pin: 'claude', role: 'judge', complexity: 5, length: 'xl' }, start, TWO);
    const facts = { claude: at(5, { scoped: [{ scope: 'opus', percent: 96 }] }) };
    expect(confirm(opus, {}, facts, TWO)).toMatchObject({ code: 'exhausted' });
    expect(confirm(chosen({ pin: 'claude' }, start, TWO), {}, facts, TWO)).toEqual({ kind: 'keep' });
  });

  test('is made again when its producer was re-routed onto its own vendor, also onto another account', () => {
    const task = { role: 'review', independentOf: 'codex' } as const;
    const review = chosen(task, { ...start, 'claude-b': at(50), other: at(50) }, FOUR);
    expect(review.lane).toBe('claude');
    expect(confirm(review, task, start, FOUR)).toEqual({ kind: 'keep' });
    expect(confirm(review, { ...task, independentOf: 'other' }, start, FOUR)).toEqual({ kind: 'keep' });
    expect(confirm(review, { ...task, independentOf: 'claude-b' }, start, FOUR)).toMatchObject({
      code: 'independence',
    });
  });

  test('loses a label that is no longer true', () => {
    const degraded = chosen({ role: 'review', independentOf: 'codex' }, { codex: at(5), claude: at(99) }, TWO);
    expect(confirm(degraded, { role: 'review', independentOf: 'claude' }, start, TWO)).toMatchObject({
      code: 'independence',
    });
  });

  test('made from the same facts is always kept', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 94 }),
        fc.integer({ min: 0, max: 120 }),
        fc.constantFrom(undefined, 'codex', 'claude'),
        (a, b, independentOf) => {
          const task = independentOf === undefined ? {} : { independentOf };
          const facts = { codex: at(a), claude: at(b) };
          const made = decide(task, facts, TWO);
          if (made.ok) expect(confirm(made, task, facts, TWO)).toEqual({ kind: 'keep' });
        },
      ),
    );
  });
});
