import { afterEach, expect, test } from 'vitest';
import { openBox, type Box } from '../../support/box.js';
import { testConfig } from '../../support/records.js';
import { sleep } from '../../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

const SPENT = 12;

test('many lanes with spent windows do not occupy the few slots of a node, and do not ask endlessly', async () => {
  const base = testConfig().lanes.filter(({ id }) => id === 'codex');
  const lanes = base.flatMap((lane) => [
    lane,
    ...Array.from({ length: SPENT }, (_, i) => ({ ...lane, id: `spent-${i}`, account: `spent-${i}` })),
    ...Array.from({ length: 4 }, (_, i) => ({ ...lane, id: `open-${i}`, account: `open-${i}` })),
  ]);
  box = await openBox({
    lanes,
    slots: { account: 4, node: 2, dark: 4 },
    timing: { sweepMs: 500, wakeFallbackMs: 1_000 },
  });
  const now = Date.now();
  for (let i = 0; i < SPENT; i++) {
    await box.gate.read({
      account: `spent-${i}`,
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 99, resetsAt: now + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: now,
      readAt: now,
      plan: null,
    });
  }
  const request = { failover: false, cwd: box.workDir } as never;
  const waiting = await Promise.all(
    Array.from({ length: SPENT }, (_, i) => box.submit('waits', { lane: `spent-${i}`, request })),
  );
  const works = await Promise.all(
    [0, 1, 2, 3].flatMap((i) => [
      box.submit('[[sim:slow seconds=0.3]]', { lane: `open-${i}`, request }),
      box.submit('[[sim:echo]]', { lane: `open-${i}`, request }),
    ]),
  );
  await box.start();
  for (const id of works) expect((await box.ended(id)).state).toBe('succeeded');
  for (const id of waiting) expect((await box.records.read(id))?.state).toBe('queued');

  // At rest each of them asks once per fallback, not once per answer of another.
  const calls = async (): Promise<number> =>
    Number(/evalsha:calls=(\d+)/.exec(await box.redis.info('commandstats'))?.[1] ?? Number.NaN);
  const before = await calls();
  await sleep(3_000);
  // Prober and upkeep of 17 lanes are in it; asking without end was 4,000.
  expect((await calls()) - before).toBeLessThan(1_500);
});
