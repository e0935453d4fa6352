import { expect, test } from 'vitest';
import type { TakeUp } from '#contract';
import { environmentOf } from '#worker/environment';
import { takeUpOn } from '#worker/take-up';
import { laneOf, testConfig } from '../../support/records.js';

test('what a shell was asked for another lane’s sake stays out of this one, what the task itself brought does not', () => {
  const config = testConfig({
    lanes: testConfig().lanes.map((lane) => ({
      ...lane,
      passEnv: lane.id === 'claude' ? ['FOR_CLAUDE', 'FOR_BOTH'] : ['FOR_BOTH'],
    })),
  });
  const submitted = { PATH: '/bin', FOR_CLAUDE: 'c', FOR_BOTH: 'b', ASKED: 'a' };
  const names = (lane: string): string[] =>
    Object.keys(environmentOf({ config }, submitted, laneOf(config, lane), 'd-1.1', 'read')).filter((name) =>
      Object.hasOwn(submitted, name),
    );
  expect(names('claude').sort()).toEqual(['ASKED', 'FOR_BOTH', 'FOR_CLAUDE', 'PATH']);
  expect(names('codex').sort()).toEqual(['ASKED', 'FOR_BOTH', 'PATH']);
});

test('a session stays on the lane that has its files: elsewhere a writer carries on, and a reader begins from its prompt', () => {
  const resume: TakeUp = { how: 'resume', lane: 'codex', node: 'n', session: 's' };
  const repair: TakeUp = { how: 'repair', lane: 'codex', node: 'n', session: 's', problems: 'no verdict' };
  const carriesOn: TakeUp = { how: 'continue', from: 'codex' };
  for (const takeUp of [resume, repair]) {
    expect(takeUpOn('codex', takeUp, { access: 'write' })).toEqual(takeUp);
    expect(takeUpOn('claude', takeUp, { access: 'write' })).toEqual(carriesOn);
    expect(takeUpOn('claude', takeUp, { access: 'read' })).toBeNull();
  }
  expect(takeUpOn('claude', carriesOn, { access: 'write' })).toEqual(carriesOn);
  expect(takeUpOn('claude', null, { access: 'write' })).toBeNull();
});
