import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
beforeEach(() => {
  box = openFlow();
});
afterEach(() => box.close());

test.each([
  ['its supervisor and itself', '[[sim:kills who=supervisor]]', 'interrupted'],
  ['itself', '[[sim:kills]]', 'killed'],
])(
  'an agent that kills %s each time is stopped at the third, on whatever lanes; answer, receipt and show say why',
  async (_victim, marker, cls) => {
    const ran = await box.cmo(['run', '--role', 'research', '--json'], { input: `poison ${marker}` });
    expect(ran.code).toBe(1);
    const envelope = JSON.parse(ran.stdout) as Envelope;
    const why = /3 of its attempts were ended from outside or went silent; what it does may be the cause/;
    expect(envelope).toMatchObject({ ok: false, state: 'failed', error: { code: 'CMO_E_FAILED' } });
    expect(JSON.stringify(envelope.error)).toMatch(why);

    const id = envelope.dispatchId;
    const attempts = box.attemptLines(id);
    expect(attempts.map((line) => line.class ?? line.outcome)).toEqual([cls, cls, cls]);
    expect(attempts[2]?.next).toMatch(why);
    const [line] = box.dispatchLines(id);
    expect(line).toMatchObject({
      state: 'failed',
      answeredBy: null,
      failures: cls === 'killed' ? [cls, cls, cls] : [],
    });
    expect(JSON.stringify(line?.error)).toMatch(why);
    expect((await box.cmo(['show', id])).stdout.replaceAll(/\s+/g, ' ')).toMatch(why);

    expect(await problemsAtRest(box, [id])).toEqual([]);
    expect(Object.values(box.starts())).toEqual([1, 1, 1]);
    // It has done nobody else any harm.
    expect(await box.run('well behaved [[sim:echo]]', '--role', 'research')).toMatchObject({ ok: true });
  },
);

test('--attempts replaces that bound as it does all others', async () => {
  const envelope = await box.run(
    'poison [[sim:kills who=supervisor]]',
    '--role',
    'research',
    '--attempts',
    '4',
    '--no-failover',
    '--pin',
    'codex',
  );
  expect(envelope).toMatchObject({ ok: false, state: 'failed' });
  expect(box.attemptLines(envelope.dispatchId)).toHaveLength(4);
});
