import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROLES, type DispatchRequest } from '#contract';
import {
  accessOf,
  checkRequest,
  independenceNotice,
  nearest,
  policyConfigOf,
  readFacts,
  readTask,
  taskOf,
  type Problem,
} from '#policy';
import { FOUR, TWO } from './cases.js';

function problems(input: unknown, config = TWO): Problem[] {
  const reading = readTask(input, config);
  return reading.ok ? [] : reading.problems;
}

describe('a task', () => {
  test.each([
    ['role', 'juge', 'judge'],
    ['role', 'Judge', 'judge'],
    ['role', 'arch', 'architecture'],
    ['role', 7, null],
    ['length', 'medium', 'm'],
    ['length', 'XL', 'xl'],
    ['pin', 'Codex', 'codex'],
    ['pin', 'claud', 'claude'],
    ['independentOf', 'antropic', 'anthropic'],
    ['independentOf', 'opneai', 'openai'],
    ['complexity', 6, '5'],
    ['complexity', 0, '1'],
    ['complexity', 2.6, '3'],
    ['complexity', Number.NaN, null],
    ['complexity', '3', null],
    ['contextTokens', -1, '0'],
    ['contextTokens', 1e12, '10000000'],
    ['contextTokens', Infinity, '10000000'],
    ['needsSchema', 'yes', null],
    ['pinModel', '--dangerously-skip-permissions', null],
    ['pinModel', '', null],
    ['pinModel', 'two words', null],
    ['modelsOut', 'opus', null],
  ])('is refused for %s = %j, naming the nearest right value %j', (field, value, near) => {
    const [problem, ...more] = problems({ [field]: value });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ field, code: 'CMO_E_UNKNOWN_VALUE' });
    expect(problem?.allowed).not.toBe('');
    expect(problem?.seen).not.toBe('');
    if (near !== null) expect(problem?.nearest).toBe(near);
  });

  test('is refused for all its values at once, and for none it leaves out', () => {
    expect(problems({ role: 'x', length: 'y', pin: 'z', complexity: 9 }).map(({ field }) => field)).toEqual([
      'role',
      'complexity',
      'length',
      'pin',
    ]);
    expect(readTask({ role: null, pin: undefined, complexity: 4 }, TWO)).toEqual({ ok: true, task: { complexity: 4 } });
    expect(problems('judge')).toHaveLength(1);
  });

  test('is refused when nothing could ever satisfy it', () => {
    const [pin] = problems({ pin: 'codex', independentOf: 'openai', strictIndependence: true });
    expect(pin).toMatchObject({ code: 'CMO_E_UNSATISFIABLE', field: 'pin', nearest: null });
    expect(problems({ pin: 'claude-b', independentOf: 'claude', strictIndependence: true }, FOUR)).toHaveLength(1);
    expect(problems({ pin: 'claude', independentOf: 'codex', strictIndependence: true })).toEqual([]);
    expect(problems({ pin: 'codex', independentOf: 'codex' })).toEqual([]);
    expect(
      problems({ independentOf: 'codex', strictIndependence: true }, { ...TWO, lanes: TWO.lanes.slice(0, 1) }),
    ).toMatchObject([{ field: 'strictIndependence' }]);
  });

  test('of any shape is read or refused, never thrown at', () => {
    const anything = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true }),
      fc.constant({ toString: undefined }),
    );
    fc.assert(
      fc.property(anything, anything, (input, value) => {
        readTask(input, TWO);
        readTask({ role: value, pin: value, pinModel: value, complexity: value, modelsOut: value }, TWO);
        readFacts(input);
        readFacts({ codex: input });
        policyConfigOf(input);
        readFacts({
          codex: {
            available: value,
            worstPercent: value,
            nextResetAt: value,
            scoped: [{ scope: value, percent: input }],
          },
        });
        policyConfigOf({ models: { codex: { fast: { model: value, effort: input } } } });
        policyConfigOf({ models: input, lanes: { codex: value }, preference: value, pressure: input });
      }),
      { numRuns: 3000 },
    );
  });
});

describe('a request', () => {
  const request: DispatchRequest = { id: 'd', prompt: 'do it', cwd: '/', env: {} };
  const fields = (more: Record<string, unknown>): string[] =>
    checkRequest({ ...request, ...more }, TWO).map(({ field }) => field);

  test('is checked for its numbers, flags and words', () => {
    expect(fields({})).toEqual([]);
    expect(fields({ prompt: ' \n' })).toEqual(['prompt']);
    expect(
      fields({ timeoutMs: 0, attempts: 1.5, maxWaitMs: -1, class: 'urgent', failover: 'no', model: '-x' }),
    ).toEqual(['model', 'timeoutMs', 'attempts', 'maxWaitMs', 'class', 'failover']);
    expect(fields({ maxWaitMs: null, attempts: 3, timeoutMs: 1_200_000, class: 'batch' })).toEqual([]);
  });

  test('may not let a grader write, nor say both', () => {
    expect(fields({ role: 'judge', write: true })).toEqual(['write']);
    expect(fields({ role: 'research', write: true })).toEqual([]);
    expect(fields({ write: true, readOnly: true })).toEqual(['write']);
  });

  test('writes by role, raised and lowered by its flags; only --write raises a tier', () => {
    expect(ROLES.filter((role) => accessOf({ role }) === 'write')).toEqual(['mechanical', 'implement']);
    expect([accessOf({}), accessOf({ role: 'research', write: true }), accessOf({ readOnly: true })]).toEqual([
      'write',
      'write',
      'read',
    ]);
    expect(taskOf(request)).toEqual({ needsSchema: false, needsRepoWrite: false });
    expect(taskOf({ ...request, write: true, schema: {}, model: 'm', pin: 'codex' })).toEqual({
      needsSchema: true,
      needsRepoWrite: true,
      pinModel: 'm',
      pin: 'codex',
    });
  });
});

describe('the config of a decision', () => {
  const read = (input: unknown): unknown => {
    const reading = policyConfigOf(input);
    return reading.ok ? reading.config : reading.problems.map(({ field, nearest: near }) => [field, near]);
  };

  test('is the defaults where nothing is said, and ignores what is not the policy’s', () => {
    expect(read(undefined)).toEqual(TWO);
    expect(read({ fleet: { url: 'x' }, freshness: {} })).toEqual(TWO);
  });

  test('merges a tier as a name, or as an object of model and effort or reasoning', () => {
    const models = {
      codex: { fast: 'a', balanced: { reasoning: 'xhigh' }, frontier: { model: 'c', effort: 'max' } },
      claude: { fast: { model: 'd' } },
    };
    expect(read({ models })).toMatchObject({
      lanes: [
        {
          models: {
            fast: { model: 'a', effort: 'low' },
            balanced: { model: 'gpt-5.6-terra', effort: 'xhigh' },
            frontier: { model: 'c', effort: 'max' },
          },
        },
        { models: { fast: { model: 'd', effort: 'low' }, balanced: { model: 'sonnet' } } },
      ],
    });
    expect(policyConfigOf(undefined)).toEqual({ ok: true, config: TWO });
  });

  test('merges bands and preference member by member', () => {
    expect(read({ pressure: { critical: 80 }, preference: { first: 'claude' } })).toMatchObject({
      pressure: { tight: 65, critical: 80, exhausted: 95 },
      preference: { first: 'claude', weightPoints: 100 },
    });
  });

  test('takes lanes as data, and refuses a new one without vendor or models', () => {
    const lane = { vendor: 'anthropic', models: { fast: 'f', balanced: 'b', frontier: 'x' } };
    expect(read({ lanes: { 'claude-b': lane } })).toMatchObject({
      lanes: [
        { id: 'codex' },
        { id: 'claude' },
        { id: 'claude-b', vendor: 'anthropic', models: { fast: { model: 'f' } } },
      ],
    });
    expect(read({ lanes: { new: { models: { fast: 'f' } } } })).toEqual([
      ['lanes.new.vendor', null],
      ['models.new.balanced', null],
      ['models.new.frontier', null],
    ]);
  });

  test('is refused for an unknown member of bands or preference, which would otherwise be ignored silently', () => {
    expect(read({ pressure: { critcal: 80 }, preference: { frist: 'claude' } })).toEqual([
      ['preference', 'first'],
      ['pressure', 'critical'],
    ]);
  });

  test('is refused for what it gets wrong, all at once', () => {
    expect(
      read({
        models: { codx: {}, codex: { blanced: 'x', fast: 3 } },
        preference: { first: 'claud', weightPoints: '9' },
        pressure: { tight: 165 },
      }),
    ).toEqual([
      ['models', 'codex'],
      ['models.codex', 'balanced'],
      ['models.codex.fast', null],
      ['preference.first', 'claude'],
      ['preference.weightPoints', '9'],
      ['pressure.tight', '100'],
    ]);
  });
});

describe('facts from outside', () => {
  test('are refused by name when they are of the wrong kind', () => {
    const reading = readFacts({
      codex: { available: 'yes', worstPercent: '5', nextResetAt: 'soon', scoped: [{ percent: 3 }] },
      claude: 4,
    });
    expect(reading.ok ? [] : reading.problems.map(({ field }) => field)).toEqual([
      'limits.codex.available',
      'limits.codex.worstPercent',
      'limits.codex.nextResetAt',
      'limits.codex.scoped[0].scope',
      'limits.claude',
    ]);
  });
});

describe('the nearest word', () => {
  test('is the one meant', () => {
    const cases: [string, string[], string | null][] = [
      ['implment', [...ROLES], 'implement'],
      ['REVIEW', [...ROLES], 'review'],
      ['reviewer', [...ROLES], 'review'],
      ['mech', [...ROLES], 'mechanical'],
      ['synthsis', [...ROLES], 'synthesis'],
      ['x', [], null],
    ];
    for (const [word, allowed, expected] of cases) expect(nearest(word, allowed), word).toBe(expected);
  });

  test('is an allowed one for any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.constantFrom(...ROLES), (word, role) => {
        expect(ROLES).toContain(nearest(word, ROLES));
        expect(nearest(role.toUpperCase(), ROLES)).toBe(role);
      }),
    );
  });
});

test('a degraded reviewer is told whose blind spots it shares and how to work', () => {
  const notice = independenceNotice('openai');
  for (const point of [/openai/, /one at a time/, /against the work/, /did not check/, /same-vendor/, /repeated/])
    expect(notice).toMatch(point);
});
