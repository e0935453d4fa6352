import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keys } from '#store';
import { progressTeller } from '#worker/progress';
import { openBox, type Box } from '../../support/box.js';
import { waitUntil } from '../../support/wait-until.js';

describe('a running attempt', () => {
  let box: Box;
  beforeEach(async () => {
    box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 300, killGraceMs: 500 } });
  });
  afterEach(() => box.close());

  test.each(['codex', 'claude'] as const)(
    'of %s says what it has done so far, its session first, and nothing of it when it is over',
    async (lane) => {
      await box.start();
      const told: string[] = [];
      const ear = box.server.client();
      ear.on('message', (_channel: string, id: string) => told.push(id));
      await ear.subscribe(keys.channels.progress);
      const id = await box.submit('[[sim:slow act=1 seconds=4]]', { lane, access: 'write' });
      const seen = await waitUntil(async () => (await box.records.read(id))?.progress, { what: 'its progress' });
      expect(seen.session).toMatch(/^[0-9a-f-]{36}$/);
      const later = await waitUntil(async () => {
        const progress = (await box.records.read(id))?.progress;
        return progress && Object.keys(progress.tools).length > 0 && progress.toolsRunning === 0 ? progress : null;
      });
      expect(later).toMatchObject({
        attempt: 1,
        tools: lane === 'codex' ? { command_execution: 1 } : { Bash: 1 },
        toolsRunning: 0,
      });
      expect(later.steps).toBeGreaterThan(0);
      expect((await box.ended(id)).progress).toBeUndefined();
      // At the session, and at most every three seconds of the four.
      expect(told.every((one) => one === id)).toBe(true);
      expect(told.length).toBeLessThanOrEqual(3);
    },
  );
});

test('progress is reported at once with the session, then at most every three seconds and only if something changed', async () => {
  const told: [number, string | null, number][] = [];
  let now = 1_000_000;
  const transitions = {
    progress: (_id: string, _node: string, silentMs: number, progress: { steps: number; session: string | null }) => {
      told.push([progress.steps, progress.session, silentMs]);
      return Promise.resolve(true);
    },
  };
  const quiet = { info() {}, warn() {}, error() {} };
  const teller = progressTeller(
    { transitions: transitions as never, node: 'n', clock: () => now, log: quiet },
    { id: 'd', attempt: 1 },
    () => [],
  );
  const tell = async (steps: number, session: string | null, movedAt: number): Promise<void> => {
    teller.tell(
      { session, model: null, cliVersion: null, steps, tools: {}, toolsRunning: 0, outputTokens: 0 },
      movedAt,
    );
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  await tell(0, null, now);
  now += 100;
  await tell(0, 's', now);
  now += 100;
  await tell(1, 's', now - 50);
  now += 2_900;
  await tell(2, 's', now - 1_000);
  now += 5_000;
  await tell(2, 's', now - 6_000);
  await tell(2, 's', now - 6_000);
  expect(told).toEqual([
    [0, 's', 0],
    [2, 's', 1_000],
  ]);
});
