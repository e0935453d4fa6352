import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AttemptReceipt, DispatchRecord } from '#contract';
import { openBox, type Box } from '../../support/box.js';
import { testConfig } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

/** The bounds of a refusal without a stated reset, and an hour beside them: two thousand times faster. */
const BOUNDS_MS = [150, 300, 600, 1_200, 1_800];
const HOUR_MS = 1_800;
const SLOTS = 3;
const WORK = 12;
/** Times of files are as coarse as the kernel's tick. */
const TICK_MS = 20;

const SAYS = {
  codex: [
    { type: 'thread.started', thread_id: '00000000-0000-4000-8000-000000000000' },
    { type: 'turn.started' },
    { type: 'turn.failed', error: { message: "You've hit your usage limit." } },
  ],
  claude: [
    {
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: 429,
      result: 'Claude AI usage limit reached',
      session_id: '00000000-0000-4000-8000-000000000000',
      num_turns: 1,
      duration_ms: 1,
    },
  ],
};

test.each(['codex', 'claude'] as const)(
  '%s that calls its window used up at one percent is asked again after a bound that grows, by one run at a time; each receipt says that the meter disagreed, and the work waits unspent',
  async (kind) => {
    const folder = tempFolder('refuses');
    const [well, command] = [join(folder, 'well'), join(folder, `${kind}-refuses-at-one-percent`)];
    const lines = SAYS[kind].map((event) => `echo '${JSON.stringify(event).replaceAll("'", `'\\''`)}'`);
    const standIn = new URL(`../../fixtures/bin/${kind}`, import.meta.url).pathname;
    writeFileSync(
      command,
      [
        '#!/bin/sh',
        `[ ! -e ${well} ] || exec ${standIn} "$@"`,
        'cat >/dev/null',
        'sleep 0.3',
        ...lines,
        'exit 1',
        '',
      ].join('\n'),
      { mode: 0o755 },
    );
    const lanes = testConfig().lanes.map((lane) => (lane.id === kind ? { ...lane, command, slots: SLOTS } : lane));
    box = await openBox({ lanes, timing: { refusalMs: BOUNDS_MS, sweepMs: 300, wakeFallbackMs: 100 } });
    await box.gate.read({
      account: kind,
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 1, resetsAt: Date.now() + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: Date.now(),
      readAt: Date.now(),
      plan: null,
    });
    const attempts = (): AttemptReceipt[] =>
      box
        .receipts()
        .flatMap((line) => (line.kind === 'attempt' ? [line] : []))
        .sort((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt));
    const ids = await Promise.all(
      Array.from({ length: WORK }, (_, n) =>
        box.submit(`${n} [[sim:echo]]`, {
          lane: kind,
          request: { pin: kind, failover: false } as DispatchRecord['request'],
        }),
      ),
    );
    await box.start();
    // Those in flight at the first refusal, then one after each of the bounds but the last.
    const rounds = BOUNDS_MS.length - 1;
    await waitUntil(() => attempts().length >= SLOTS + rounds, { what: 'each bound to be met', everyMs: 50 });
    writeFileSync(well, '');
    for (const id of ids) expect(await box.ended(id)).toMatchObject({ state: 'succeeded', lane: kind });

    const refused = attempts().filter(({ class: cls }) => cls === 'usage_limit');
    for (const { notes } of refused) expect(notes).toContain('meter-disagreed: it showed 1 %');
    const times = refused.map(({ startedAt, durationMs }) => {
      const start = Date.parse(startedAt);
      return [start, start + durationMs] as const;
    });
    // A slot is free again only with the closing, so no more than SLOTS can have started before it; on a busy box the last of
    // them when the first had ended already.
    const closes = (times[0]?.[1] ?? 0) + (BOUNDS_MS[0] ?? 0) - TICK_MS;
    const first = times.slice(0, SLOTS).filter(([start]) => start < closes).length;
    const later = times.slice(first);
    expect(later.length).toBeGreaterThanOrEqual(rounds);
    for (const [n, [start]] of later.entries()) {
      const before = times[first + n - 1]?.[1] ?? 0;
      expect(start - before, `the ${n + 1}. canary`).toBeGreaterThanOrEqual(
        (BOUNDS_MS[n] ?? BOUNDS_MS.at(-1) ?? 0) - TICK_MS,
      );
    }
    for (const [start] of later)
      expect(
        later.filter(([other]) => other >= start && other < start + HOUR_MS).length,
        'canaries within an hour',
      ).toBeLessThanOrEqual(6);
    // Nobody's attempt was spent on it, and the account is open again.
    for (const line of box.receipts()) if (line.kind === 'dispatch') expect(line.state, line.id).toBe('succeeded');
    expect((await box.gate.snapshot(kind)).closed).toBeNull();
  },
  90_000,
);
