import { describe, expect, test } from 'vitest';
import { FINAL_GRACE_MS, Watch } from '#worker/watch';

const MINUTE = 60_000;
const SILENCE = 5 * MINUTE;
const LIMITS = { silenceMs: SILENCE, deadlineMs: 60 * MINUTE, graceMs: 5_000 };
const START = 1_000_000;
const watched = (now = START, mayBillElsewhere = false): Watch => new Watch(START, now, LIMITS, mayBillElsewhere);
const progress = { kind: 'progress' } as const;
const final = { kind: 'final' } as const;

describe('silence', () => {
  test('is the time since the last progress; other output does not shorten it', () => {
    const watch = watched();
    watch.take([progress], START + MINUTE);
    watch.take(
      [
        { kind: 'rate-limit-event', info: {} },
        { kind: 'session', id: 's' },
      ],
      START + 3 * MINUTE,
    );
    expect(watch.verdict(START + MINUTE + SILENCE, 0)).toBeNull();
    expect(watch.verdict(START + MINUTE + SILENCE + 1, 0)).toBe('silence');
    expect(watch.movedAt).toBe(START + MINUTE);
  });

  test('of a run whose tool is at work lasts as long as the CLIs let a tool work', () => {
    const watch = watched();
    watch.take([progress], START);
    expect(watch.verdict(START + 2 * SILENCE, 1)).toBeNull();
    expect(watch.verdict(START + 2 * SILENCE, 0)).toBe('silence');
    expect(watch.verdict(START + 12 * MINUTE, 1)).toBe('silence');
  });

  test('of an adopted run starts half used up, because its last progress is not known', () => {
    const late = START + 30 * MINUTE;
    const watch = watched(late);
    expect(watch.verdict(late + SILENCE / 2, 0)).toBeNull();
    expect(watch.verdict(late + SILENCE / 2 + 1, 0)).toBe('silence');
  });
});

describe('after its final event', () => {
  test('a run has a while to leave by itself, however long it is silent then', () => {
    const watch = watched();
    watch.take([progress, final], START);
    watch.take([final], START + FINAL_GRACE_MS);
    expect(watch.verdict(START + FINAL_GRACE_MS, 1)).toBeNull();
    expect(watch.verdict(START + FINAL_GRACE_MS + 1, 1)).toBe('final');
  });

  test('one that goes on with another turn has not ended, and has its while again after that one', () => {
    const watch = watched();
    watch.take([final], START);
    watch.take([progress], START + 5_000);
    expect(watch.verdict(START + MINUTE, 0)).toBeNull();
    watch.take([final], START + MINUTE);
    expect(watch.verdict(START + MINUTE + FINAL_GRACE_MS, 0)).toBeNull();
    expect(watch.verdict(START + MINUTE + FINAL_GRACE_MS + 1, 0)).toBe('final');
  });
});

test('what ends a run at once does so for good, and the first reason stays', () => {
  for (const [signal, reason] of [
    [{ kind: 'refused', words: '429' }, 'refused'],
    [{ kind: 'flood', bytes: 1 }, 'overflow'],
    [{ kind: 'foreign-billing', source: 'ANTHROPIC_API_KEY' }, 'foreign-billing'],
  ] as const) {
    const watch = watched();
    watch.take([signal, progress, final], START);
    watch.end('cancel');
    expect(watch.verdict(START, 1)).toBe(reason);
  }
  const cancelled = watched();
  cancelled.end('cancel');
  cancelled.take([{ kind: 'refused', words: '429' }], START);
  expect(cancelled.verdict(START, 0)).toBe('cancel');
});

test('a lane whose configuration says so may bill elsewhere', () => {
  const watch = watched(START, true);
  watch.take([{ kind: 'foreign-billing', source: 'ANTHROPIC_API_KEY' }], START);
  expect(watch.verdict(START, 0)).toBeNull();
});

test('its wall clock is the supervisor’s; only long past it the run is ended from here', () => {
  const watch = watched();
  const over = START + LIMITS.deadlineMs + LIMITS.graceMs;
  watch.take([progress], over);
  expect(watch.verdict(over + 1, 0)).toBeNull();
  watch.take([progress], over + MINUTE);
  expect(watch.verdict(over + MINUTE, 0)).toBe('deadline');
});
