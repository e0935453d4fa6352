import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  FAILURE_CLASSES,
  type Failure,
  type FailureClass,
  type NextStep,
  type PastFailure,
  type StepFacts,
  type StepFailure,
} from '#contract';
import { actionOf, backOffMs, nextStep, VIOLENT_ENDS } from '#policy';
import { firstStep } from '#policy/failure/index';
import { vectorFile } from './vectors.js';

const NOW = 1_000_000;

const reader: StepFacts = {
  now: NOW,
  random: 0,
  access: 'read',
  began: 'yes',
  session: null,
  retryWrites: false,
  failover: true,
  attempts: null,
  lane: 'codex',
  otherLanes: ['claude'],
  otherModel: null,
};
const writer: StepFacts = { ...reader, access: 'write', session: 'thread-1' };
const lostWriter: StepFacts = { ...writer, session: null };
const alone = { otherLanes: [] };

function failed(cls: FailureClass | 'interrupted' | 'lost', more: Partial<Failure> = {}): StepFailure {
  return cls === 'interrupted' || cls === 'lost' ? { class: cls } : { class: cls, words: '', ...more };
}
function past(lane: string, cls: PastFailure['class'], times = 1): PastFailure[] {
  return Array.from({ length: times }, () => ({ lane, class: cls }));
}

/** `retry`, `resume`, `switch`, `switch+close`, `wait`, `wait+resume`, `stop`, `stop+look`: a step in one word. */
function short(step: NextStep): string {
  switch (step.kind) {
    case 'retry':
      return step.resume ? 'resume' : 'retry';
    case 'switch':
      return `switch${step.closeLane ? '+close' : ''}${step.continued ? '+continued' : ''}`;
    case 'wait':
      return `wait${step.closeLane ? '+close' : ''}${step.resume ? '+resume' : ''}`;
    case 'stop':
      return `stop${step.closeLane ? '+close' : ''}${step.needsLook ? '+look' : ''}`;
  }
}
const step = (
  cls: Parameters<typeof failed>[0],
  facts: Partial<StepFacts>,
  history: PastFailure[] = [],
  base = reader,
): string => short(nextStep(failed(cls), history, { ...base, ...facts }));

describe('an agent that only reads', () => {
  const table: [Parameters<typeof failed>[0], string, string, string][] = [
    // class, with another lane, alone, without failover
    ['rate_limit', 'switch+close', 'wait+close', 'wait+close'],
    ['usage_limit', 'switch+close', 'wait+close', 'wait+close'],
    ['auth', 'switch+close', 'wait+close', 'wait+close'],
    ['environment', 'switch+close', 'wait+close', 'wait+close'],
    ['transient', 'retry', 'retry', 'retry'],
    ['overloaded', 'retry', 'retry', 'retry'],
    ['killed', 'retry', 'retry', 'retry'],
    ['schema', 'retry', 'retry', 'retry'],
    ['timeout', 'switch', 'retry', 'retry'],
    ['silence', 'switch', 'retry', 'retry'],
    ['model_unavailable', 'switch', 'stop', 'stop'],
    ['deterministic', 'stop', 'stop', 'stop'],
    ['content_refused', 'stop', 'stop', 'stop'],
    ['interrupted', 'retry', 'retry', 'retry'],
    ['lost', 'retry', 'retry', 'retry'],
  ];
  test.each(table)('%s: %s, alone %s, with --no-failover %s', (cls, free, single, fixed) => {
    expect([step(cls, {}), step(cls, alone), step(cls, { failover: false })]).toEqual([free, single, fixed]);
  });

  test('an agent with access write that had not begun is treated the same', () => {
    for (const [cls, free] of table) expect(step(cls, { access: 'write', began: 'no' }), cls).toBe(free);
  });

  test.each([
    ['transient', 2],
    ['overloaded', 2],
    ['schema', 1],
  ] as const)('%s is retried here %i times, then goes elsewhere with the same budget, then fails', (cls, budget) => {
    const walk: string[] = [];
    const history: PastFailure[] = [];
    let lane = 'codex';
    for (let n = 0; n < 20; n++) {
      const next = short(
        nextStep(failed(cls), history, { ...reader, lane, otherLanes: [lane === 'codex' ? 'claude' : 'codex'] }),
      );
      history.push({ lane, class: cls });
      walk.push(next);
      if (next === 'stop') break;
      if (next === 'switch') lane = lane === 'codex' ? 'claude' : 'codex';
    }
    expect(walk).toEqual([
      ...Array<string>(budget).fill('retry'),
      'switch',
      ...Array<string>(budget).fill('retry'),
      'stop',
    ]);
  });

  test('budgets are per class and per lane', () => {
    expect(step('transient', {}, past('codex', 'overloaded', 2))).toBe('retry');
    expect(step('transient', {}, past('claude', 'transient', 3))).toBe('retry');
    expect(step('transient', alone, past('codex', 'transient', 2))).toBe('stop');
  });

  test('a lane that used up a budget is not chosen again, not even because of a limit', () => {
    expect(step('rate_limit', { lane: 'claude', otherLanes: ['codex'] }, past('codex', 'transient', 3))).toBe(
      'wait+close',
    );
    expect(step('rate_limit', { lane: 'claude', otherLanes: ['codex'] }, past('codex', 'transient', 2))).toBe(
      'switch+close',
    );
  });

  test('after timeout or silence it goes to another lane once', () => {
    expect(step('timeout', { lane: 'claude', otherLanes: ['codex'] }, past('codex', 'timeout'))).toBe('stop');
    expect(step('silence', { lane: 'claude', otherLanes: ['codex', 'other'] }, past('codex', 'silence'))).toBe('stop');
    expect(step('timeout', alone, past('codex', 'timeout'))).toBe('stop');
  });

  test('limits spend no budget', () => {
    expect(step('transient', {}, past('codex', 'rate_limit', 50))).toBe('retry');
    expect(step('usage_limit', {}, past('codex', 'usage_limit', 50))).toBe('switch+close');
    expect(step('transient', { attempts: 2 }, past('codex', 'usage_limit', 50))).toBe('retry');
  });

  test('a limit without another lane waits for the reset the vendor stated, or for an unknown time', () => {
    const wait = (resetsAt?: string | null): NextStep =>
      nextStep(failed('usage_limit', resetsAt === undefined ? {} : { resetsAt }), [], { ...reader, ...alone });
    expect(wait('2026-01-01T00:00:00+01:00')).toMatchObject({ kind: 'wait', until: Date.UTC(2025, 11, 31, 23) });
    expect(wait(null)).toMatchObject({ until: null });
    expect(wait('soon')).toMatchObject({ until: null });
    expect(wait()).toMatchObject({ until: null });
  });

  test('a fault of the whole box stops it: another lane here would fail the same way', () => {
    expect(short(nextStep(failed('environment', { boxWide: true }), [], reader))).toBe('stop+close');
  });

  test('another model of the lane comes before another lane', () => {
    expect(nextStep(failed('model_unavailable'), [], { ...reader, otherModel: 'gpt-y' })).toMatchObject({
      kind: 'retry',
      model: 'gpt-y',
      notBefore: NOW,
    });
    expect(step('model_unavailable', { ...alone, otherModel: 'gpt-y' })).toBe('retry');
  });

  test('an interrupted run goes on in its session where one is known; a lost node took it along', () => {
    expect(step('interrupted', { session: 's' })).toBe('resume');
    expect(step('lost', { session: 's' })).toBe('retry');
    expect(step('schema', { session: 's' })).toBe('resume');
  });

  test('killed is retried here once, then elsewhere, and a third such end stops it', () => {
    expect(step('killed', {}, past('codex', 'killed'))).toBe('switch');
    expect(step('killed', { lane: 'claude', otherLanes: ['codex'] }, past('codex', 'killed', 2))).toBe('stop');
  });

  test('three attempts killed or ended for silence stop a dispatch, on whichever lanes', () => {
    const violent = ['killed', 'silence', 'interrupted', 'lost'] as const;
    expect(VIOLENT_ENDS).toBe(3);
    for (const cls of violent) {
      for (const one of violent) {
        for (const other of violent) {
          const stopped = nextStep(failed(cls), [...past('codex', one), ...past('claude', other)], reader);
          expect(stopped, `${one}, ${other}, ${cls}`).toMatchObject({
            kind: 'stop',
            why: expect.stringContaining('ended from outside or went silent') as string,
          });
        }
      }
    }
    expect(step('interrupted', {}, past('codex', 'interrupted'))).toBe('retry');
    expect(
      step('interrupted', {}, [
        ...past('codex', 'transient', 2),
        ...past('codex', 'timeout', 2),
        ...past('codex', 'usage_limit', 9),
      ]),
    ).toBe('retry');
    expect(step('interrupted', { attempts: 9 }, past('codex', 'interrupted', 5))).toBe('retry');
  });

  test('events of an unknown form go to another lane without closing this one, and alone are the end', () => {
    expect(short(nextStep(failed('environment', { drift: true }), [], reader))).toBe('switch');
    expect(short(nextStep(failed('environment', { drift: true }), [], { ...reader, ...alone }))).toBe('stop');
    expect(short(nextStep(failed('environment', { drift: true }), [], writer))).toBe('stop+look');
  });
});

describe('an agent that may have written', () => {
  const table: [Parameters<typeof failed>[0], string, string, string][] = [
    // class, session and another lane, session alone, no session but another lane
    ['rate_limit', 'switch+close+continued', 'wait+close+resume', 'switch+close+continued'],
    ['usage_limit', 'switch+close+continued', 'wait+close+resume', 'switch+close+continued'],
    ['auth', 'switch+close+continued', 'wait+close+resume', 'switch+close+continued'],
    ['environment', 'wait+close+resume', 'wait+close+resume', 'stop+close+look'],
    ['transient', 'resume', 'resume', 'stop+look'],
    ['overloaded', 'resume', 'resume', 'switch+continued'],
    ['killed', 'resume', 'resume', 'stop+look'],
    ['schema', 'resume', 'resume', 'stop+look'],
    ['timeout', 'resume', 'resume', 'stop+look'],
    ['silence', 'resume', 'resume', 'stop+look'],
    ['model_unavailable', 'stop+look', 'stop+look', 'stop+look'],
    ['deterministic', 'stop+look', 'stop+look', 'stop+look'],
    ['content_refused', 'stop+look', 'stop+look', 'stop+look'],
    ['interrupted', 'resume', 'resume', 'stop+look'],
    ['lost', 'stop+look', 'stop+look', 'stop+look'],
  ];
  test.each(table)('%s: %s, alone %s, without a session %s', (cls, both, single, none) => {
    expect([step(cls, {}, [], writer), step(cls, alone, [], writer), step(cls, {}, [], lostWriter)]).toEqual([
      both,
      single,
      none,
    ]);
    expect(step(cls, { began: 'unknown' }, [], writer)).toBe(both);
  });

  test('is resumed once after timeout, silence or kill, then a person has to look', () => {
    for (const cls of ['timeout', 'silence', 'killed'] as const)
      expect(step(cls, {}, past('codex', cls), writer)).toBe('stop+look');
  });

  test('goes elsewhere after overload when its retries are used up, and never after a transient fault', () => {
    expect(step('overloaded', {}, past('codex', 'overloaded', 2), writer)).toBe('switch+continued');
    expect(step('transient', {}, past('codex', 'transient', 2), writer)).toBe('stop+look');
  });

  test('is resumed with another model of its lane', () => {
    expect(nextStep(failed('model_unavailable'), [], { ...writer, otherModel: 'gpt-y' })).toMatchObject({
      kind: 'retry',
      resume: true,
      model: 'gpt-y',
    });
    expect(step('model_unavailable', { otherModel: 'gpt-y' }, [], lostWriter)).toBe('stop+look');
  });

  test('without a session to resume or another lane it stops, and still closes the lane', () => {
    expect(step('usage_limit', alone, [], lostWriter)).toBe('stop+close+look');
  });

  test('and failed again before it did anything may start again the same way, but on another lane only as a continuation', () => {
    const again: StepFacts = { ...writer, began: 'no', beganBefore: true };
    expect(step('transient', {}, [], again)).toBe('resume');
    expect(step('transient', { session: null }, [], again)).toBe('retry');
    expect(step('transient', {}, past('codex', 'transient', 2), again)).toBe('stop+look');
    expect(step('usage_limit', { session: null }, [], again)).toBe('switch+close+continued');
    expect(step('usage_limit', { session: null, ...alone }, [], again)).toBe('wait+close');
    expect(step('environment', { session: null }, [], again)).toBe('wait+close');
    expect(step('deterministic', {}, [], again)).toBe('stop+look');
  });

  test('is simply run again if --retry-writes was given, and still needs a look when it ends', () => {
    const opted = { ...lostWriter, retryWrites: true };
    expect(
      ['transient', 'killed', 'timeout', 'interrupted', 'lost'].map((cls) => step(cls as FailureClass, {}, [], opted)),
    ).toEqual(['retry', 'retry', 'switch+continued', 'retry', 'retry']);
    expect(step('deterministic', {}, [], opted)).toBe('stop+look');
  });
});

describe('--attempts', () => {
  test('replaces every budget, and counts attempts on each lane', () => {
    expect(step('transient', { attempts: 1 })).toBe('switch');
    expect(step('transient', { attempts: 1, otherLanes: [] })).toBe('stop');
    expect(step('transient', { attempts: 5 }, past('codex', 'transient', 3))).toBe('retry');
    expect(step('transient', { attempts: 5 }, [...past('codex', 'transient', 3), ...past('codex', 'killed')])).toBe(
      'switch',
    );
    expect(
      step('transient', { attempts: 2, lane: 'claude', otherLanes: ['codex'] }, [
        ...past('codex', 'transient', 2),
        ...past('claude', 'transient'),
      ]),
    ).toBe('stop');
    expect(step('timeout', { attempts: 2, lane: 'claude', otherLanes: ['codex'] }, past('codex', 'timeout'))).toBe(
      'switch',
    );
    expect(step('interrupted', { attempts: 1 })).toBe('stop');
  });
});

describe('back-off', () => {
  test('doubles from 2 s to a ceiling of 60 s and spreads by up to a quarter', () => {
    expect([0, 1, 2, 3, 4, 5, 9].map((n) => backOffMs(n, 0))).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ]);
    expect(backOffMs(0, 1)).toBe(2_500);
    expect(backOffMs(9, 1)).toBe(75_000);
  });

  test('counts from the first failure of this class on this lane', () => {
    const when = (history: PastFailure[]): unknown =>
      nextStep(failed('transient'), history, { ...reader, random: 0.5 });
    expect(when([])).toMatchObject({ notBefore: NOW + 2_250 });
    expect(when([...past('codex', 'transient'), ...past('claude', 'transient', 2)])).toMatchObject({
      notBefore: NOW + 4_500,
    });
  });
});

describe('any sequence of failures', () => {
  const facts: fc.Arbitrary<Partial<StepFacts>> = fc.record(
    {
      began: fc.constantFrom('yes', 'no', 'unknown'),
      session: fc.constantFrom(null, 's'),
      otherModel: fc.constantFrom(null, 'm'),
      access: fc.constantFrom('read', 'write'),
      failover: fc.boolean(),
      attempts: fc.constantFrom(null, 1, 3),
    },
    { requiredKeys: [] },
  );

  test('comes to an end, limits and a person’s doings aside', () => {
    const passing = FAILURE_CLASSES.filter(
      (cls) => !['rate_limit', 'usage_limit', 'auth', 'environment', 'model_unavailable'].includes(cls),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...passing, 'interrupted' as const, 'lost' as const), facts), {
          minLength: 60,
          maxLength: 60,
        }),
        (story) => {
          const history: PastFailure[] = [];
          let lane = 'codex';
          const ended = story.some(([cls, more]) => {
            const next = nextStep(failed(cls), history, {
              ...reader,
              ...more,
              lane,
              otherLanes: ['codex', 'claude', 'other'].filter((one) => one !== lane),
            });
            history.push({ lane, class: cls });
            if (next.kind === 'switch')
              lane = ['codex', 'claude', 'other'].find((one) => one !== lane && next.why.includes(one)) ?? lane;
            return next.kind === 'stop';
          });
          expect(ended).toBe(true);
        },
      ),
    );
  });

  test('never runs an agent again that may have written, unless in its session or elsewhere after a limit, auth or overload', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FAILURE_CLASSES, 'interrupted' as const, 'lost' as const), facts, (cls, more) => {
        const next = nextStep(failed(cls), [], { ...reader, ...more, access: 'write', began: 'unknown' });
        if (next.kind === 'retry' || next.kind === 'wait') expect(next.resume && more.session === 's').toBe(true);
        if (next.kind === 'switch') expect(['rate_limit', 'usage_limit', 'auth', 'overloaded']).toContain(cls);
        if (next.kind === 'stop') expect(next.needsLook).toBe(true);
        const later = nextStep(failed(cls), [], {
          ...reader,
          ...more,
          access: 'write',
          began: 'no',
          beganBefore: true,
        });
        if (later.kind === 'switch')
          expect([['rate_limit', 'usage_limit', 'auth', 'overloaded'].includes(cls), later.continued]).toEqual([
            true,
            true,
          ]);
        if (later.kind === 'stop') expect(later.needsLook).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

test('the first step that explains a failure is the one that is taken', () => {
  for (const cls of FAILURE_CLASSES)
    expect(actionOf(nextStep(failed(cls), [], reader)), cls).toBe(firstStep(cls, false));
  expect(actionOf(nextStep(failed('environment', { boxWide: true }), [], reader))).toBe(firstStep('environment', true));
});

describe('the failures that are known', () => {
  type Answer = { class: FailureClass | 'ok'; action: string };
  const { vectors } = vectorFile('failures.json') as {
    vectors: { id: string; expected: Answer; alsoAccept?: Answer[] }[];
  };

  test('are followed by the right first step for a reader with another lane free', () => {
    for (const { id, expected, alsoAccept } of vectors) {
      if (expected.class === 'ok') continue;
      const boxWide = expected.class === 'environment' && expected.action === 'fail';
      const action = actionOf(nextStep(failed(expected.class, boxWide ? { boxWide: true } : {}), [], reader));
      expect(
        [expected, ...(alsoAccept ?? [])].filter((one) => one.class === expected.class).map((one) => one.action),
        id,
      ).toContain(action);
    }
  });
});
