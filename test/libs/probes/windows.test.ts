import { describe, expect, it } from 'vitest';
import { kindOfMinutes, kindOfSlot, ofKind, percent, resetWithin, windowsAt, type RawWindow } from '#probes/windows';

const now = Date.UTC(2026, 10, 20, 3, 15);
const minute = 60_000;
const hour = 60 * minute;
const window = (changes: Partial<RawWindow> = {}): RawWindow => ({
  kind: 'five_hour',
  lengthMs: 5 * hour,
  scope: null,
  usedPercent: 40,
  resetsAt: now + hour,
  ...changes,
});

describe('the kind of a window', () => {
  it('follows its length, in whichever slot it is', () => {
    const kinds = [295, 299, 300, 305, 294, 306, 1440, 10_020, 10_079, 10_080, 10_140, 10_141, 43_200, 44_640].map(
      (minutes) => kindOfMinutes(minutes)?.kind,
    );
    expect(kinds).toEqual([
      'five_hour',
      'five_hour',
      'five_hour',
      'five_hour',
      'other',
      'other',
      'other',
      'weekly',
      'weekly',
      'weekly',
      'weekly',
      'other',
      'monthly',
      'monthly',
    ]);
  });

  it('is not read from an invalid length', () => {
    for (const minutes of [null, 0, -300, 1e12]) expect(kindOfMinutes(minutes)).toBeNull();
  });

  it('without a length is that of its slot, unless the reset is further away than that', () => {
    expect(kindOfSlot('primary', 2 * hour).kind).toBe('five_hour');
    expect(kindOfSlot('primary', null).kind).toBe('five_hour');
    expect(kindOfSlot('primary', 6 * 24 * hour).kind).toBe('weekly');
    expect(kindOfSlot('secondary', 2 * hour).kind).toBe('weekly');
    expect(kindOfSlot('secondary', 20 * 24 * hour).kind).toBe('monthly');
    expect(kindOfSlot('primary', 400 * 24 * hour).kind).toBe('five_hour');
  });
});

describe('a percent', () => {
  it('is a number, also in a text, clamped to 0..100', () => {
    expect([37.5, '43', '43 %', 104, -3, 1e300].map(percent)).toEqual([37.5, 43, 43, 100, 0, 100]);
  });

  it('is not 0 when there is none', () => {
    for (const value of [null, undefined, '', ' ', 'x', true, [], {}, Number.NaN, Infinity])
      expect(percent(value)).toBeNull();
  });
});

describe('windows as they stand now', () => {
  it('are 0 without a reset once theirs has passed', () => {
    expect(windowsAt([window({ resetsAt: now })], now - hour, now)).toEqual([
      { id: 'five_hour', kind: 'five_hour', scope: null, usedPercent: 0, resetsAt: null },
    ]);
  });

  it('are 0 without a stated reset once a whole length has gone by since they were written', () => {
    expect(windowsAt([window({ resetsAt: null })], now - 5 * hour, now)[0]?.usedPercent).toBe(0);
    expect(windowsAt([window({ resetsAt: null })], now - 5 * hour + 1, now)[0]?.usedPercent).toBe(40);
  });

  it('keep their figure but not a reset that is further away than the window is long', () => {
    expect(windowsAt([window({ resetsAt: now + 6 * hour })], now, now)[0]).toMatchObject({
      usedPercent: 40,
      resetsAt: null,
    });
  });

  it("reset no later than one window length from now, however far ahead the writer's clock was", () => {
    expect(windowsAt([window({ resetsAt: now + 5 * hour + 3 * minute })], now, now)[0]?.resetsAt).toBe(now + 5 * hour);
  });

  it('name one reset by one time, though the vendor adds fractions of a second', () => {
    expect(windowsAt([window({ resetsAt: now + hour + 528 })], now, now)[0]?.resetsAt).toBe(now + hour);
  });

  it('take the higher one of two figures for one window', () => {
    const two = [window({ usedPercent: 37 }), window({ usedPercent: 41 })];
    expect(windowsAt(two, now, now)).toMatchObject([{ usedPercent: 41 }]);
    expect(windowsAt(two.reverse(), now, now)).toMatchObject([{ usedPercent: 41 }]);
  });

  it('keep a scoped window apart from the shared one, and two unnamed lengths apart from each other', () => {
    const other = (minutes: number): RawWindow => window({ kind: 'other', lengthMs: minutes * minute });
    const ids = windowsAt(
      [window(ofKind('weekly')), window({ ...ofKind('weekly'), scope: 'opus' }), other(1440), other(60)],
      now,
      now,
    ).map(({ id }) => id);
    expect(ids).toEqual(['weekly', 'weekly:opus', 'other', 'other-60']);
  });
});

it('a reset beside a flag is dropped when it has passed or cannot be', () => {
  expect([now, now + 6 * hour, null].map((reset) => resetWithin(reset, 5 * hour, now))).toEqual([null, null, null]);
  expect(resetWithin(now + 2 * hour, 5 * hour, now)).toBe(now + 2 * hour);
});
