import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBox, type Box } from '../../support/box.js';
import { testConfig } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';

let box: Box;
let today: string;
beforeEach(async () => {
  today = join(tempFolder('today'), 'today');
  const lanes = testConfig().lanes.map((lane) =>
    lane.id === 'codex' ? { ...lane, command: 'codex-of-tomorrow', env: { CMO_TEST_TODAY: today } } : lane,
  );
  box = await openBox({ lanes, timing: { sweepMs: 200 } });
});
afterEach(() => box.close());

const attempts = (id: string) =>
  box.receipts().flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : []));

test('events of an unknown form count against the lane: its work moves, its version is in the receipts, and after three in a row it closes', async () => {
  await box.start();
  for (const n of [1, 2, 3]) {
    const id = await box.submit(`${n}`, { lane: 'codex' });
    expect((await box.ended(id)).state).toBe('succeeded');
    expect(attempts(id)).toMatchObject([
      {
        lane: 'codex',
        class: 'environment',
        cliVersion: '9.0.0',
        words: expect.stringContaining('unknown form') as string,
      },
      { lane: 'claude', class: null, cliVersion: '2.1.332' },
    ]);
    const { closed } = await box.gate.snapshot('codex');
    expect(closed?.reason ?? null).toBe(n === 3 ? 'unknown-format' : null);
  }
});

test('a run that is understood begins the count anew', async () => {
  await box.start();
  const once = async (): Promise<string> =>
    (await box.ended(await box.submit('x', { lane: 'codex' }))).history[0]?.class ?? 'ok';
  expect([await once(), await once()]).toEqual(['environment', 'environment']);
  writeFileSync(today, '');
  expect(await once()).toBe('ok');
  rmSync(today);
  expect([await once(), await once()]).toEqual(['environment', 'environment']);
  expect((await box.gate.snapshot('codex')).closed).toBeNull();
});
