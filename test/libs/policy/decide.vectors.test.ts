import { describe, expect, test } from 'vitest';
import { ROLES, LENGTHS, type Decision, type Length, type Role } from '#contract';
import { explainDecision, tierOf, weightOf } from '#policy';
import { at, chosen, TWO } from './cases.js';
import { vectorFile } from './vectors.js';

type Vector = {
  name: string;
  input: { task: unknown; limits: unknown; config?: unknown };
  expected: Record<string, unknown>;
};

describe('the decisions that are known to be right', () => {
  const vectors = ['decisions.json', 'own-decisions.json'].flatMap(
    (name) => (vectorFile(name) as { vectors: Vector[] }).vectors,
  );

  const explained = (input: unknown): Decision => {
    const result = explainDecision(input);
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    return result.decision;
  };

  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, { input, expected }) => {
    expect(explained(input)).toMatchObject(expected);
  });

  test('a decision is replayed from the task and the facts it carries', () => {
    for (const { input } of vectors) {
      const first: unknown = JSON.parse(JSON.stringify(explained(input)));
      const { factors, facts } = first as Decision;
      const again = explained({ task: factors, limits: facts, config: input.config });
      expect(JSON.parse(JSON.stringify(again))).toEqual(first);
    }
  });
});

describe('explaining a decision', () => {
  test('says what is wrong with config, task and limits, and never throws', () => {
    expect(explainDecision(4)).toMatchObject({ ok: false, problems: [{ field: 'input' }] });
    expect(explainDecision({ task: { role: 'juge' }, limits: { codex: 1 } })).toMatchObject({
      ok: false,
      problems: [{ field: 'role', nearest: 'judge' }, { field: 'limits.codex' }],
    });
    expect(explainDecision({ config: { pressure: [] }, limits: 3 })).toMatchObject({
      ok: false,
      problems: [{ field: 'pressure' }, { field: 'limits' }],
    });
  });

  test('tells what would come of a request that can’t be satisfied', () => {
    const task = { independentOf: 'codex', pin: 'codex', strictIndependence: true };
    expect(explainDecision({ task })).toMatchObject({
      ok: true,
      decision: { ok: false, reasonCode: 'strict-independence' },
    });
  });
});

describe('the weight grid', () => {
  type Row = [Role, number, Length, number, string, string];
  const { rows } = vectorFile('weight-grid.json') as { rows: Row[] };

  test('covers every role, complexity and length', () => {
    expect(rows).toHaveLength(ROLES.length * 5 * LENGTHS.length);
  });

  test('gives every weight and tier exactly', () => {
    for (const [role, complexity, length, weight, byWeight, final] of rows) {
      const label = `${role} ${complexity} ${length}`;
      expect(weightOf({ role, complexity, length }), label).toBe(weight);
      expect(tierOf(weight), label).toBe(byWeight);
      expect(chosen({ role, complexity, length }, { codex: at(5), claude: at(5) }, TWO).tier, label).toBe(final);
    }
  });
});
