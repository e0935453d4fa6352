import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LONGEST_WINDOW_MS, RESET_SLACK_MS, statedReset, windowLength } from '#policy/failure/index';

const iso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString());
const reset = (text: string, now: string, hostTimeZone = 'UTC') =>
  iso(statedReset(text, { now: Date.parse(now), hostTimeZone }));

const LIMIT = "You've hit your limit · resets";
const SESSION = "You've hit your session limit · resets";

describe('a clock time', () => {
  test.each([
    [`${SESSION} 12am (UTC)`, '2026-11-20T22:10:00Z', '2026-11-21T00:00:00.000Z'],
    [`${SESSION} 12pm (UTC)`, '2026-11-20T10:10:00Z', '2026-11-20T12:00:00.000Z'],
    [`${SESSION} 12:30am (UTC)`, '2026-11-20T22:10:00Z', '2026-11-21T00:30:00.000Z'],
    [`${SESSION} midnight (UTC)`, '2026-11-20T22:10:00Z', '2026-11-21T00:00:00.000Z'],
    [`${SESSION} 3 p.m. (UTC)`, '2026-11-20T12:10:00Z', '2026-11-20T15:00:00.000Z'],
    [`${SESSION} 3:00\u202fPM (UTC)`, '2026-11-20T12:10:00Z', '2026-11-20T15:00:00.000Z'],
    [`${SESSION} 00:10 (UTC)`, '2026-11-20T22:10:00Z', '2026-11-21T00:10:00.000Z'],
    [`${SESSION} 3pm (GMT+2)`, '2026-11-20T12:10:00Z', '2026-11-20T13:00:00.000Z'],
    [`${SESSION} 3pm (asia/kolkata)`, '2026-11-20T08:00:00Z', '2026-11-20T09:30:00.000Z'],
    [`${SESSION} 3pm (Asia/Kathmandu)`, '2026-11-20T08:00:00Z', '2026-11-20T09:15:00.000Z'],
    [`${LIMIT} 9am`, '2026-11-20T10:10:00Z', '2026-11-21T09:00:00.000Z'],
  ])('%s at %s', (text, now, expected) => {
    expect(reset(text, now)).toBe(expected);
  });

  test('without a zone is meant in the zone of the CLI, whichever it was', () => {
    const at = (zone: string) => reset(`${SESSION} 3am`, '2026-11-20T12:30:00Z', zone);
    expect(at('Asia/Tokyo')).toBe('2026-11-20T18:00:00.000Z');
    expect(at('Pacific/Auckland')).toBe('2026-11-20T14:00:00.000Z');
    expect(at('Asia/Kolkata')).toBe(null); // 9 h ahead: no reset of that window
    expect(reset(`${SESSION} 9am`, '2026-11-20T12:30:00Z', 'America/New_York')).toBe('2026-11-20T14:00:00.000Z');
    expect(reset(`${SESSION} 9am`, '2026-11-20T12:30:00Z', 'Nowhere/At_All')).toBe(null);
  });

  test('that has just passed is over, in every zone, and does not cause a wait of a day', () => {
    for (const [zone, now] of [
      ['UTC', '2026-11-20T15:04:00Z'],
      ['America/New_York', '2026-11-20T20:04:00Z'],
      ['Asia/Kolkata', '2026-11-20T09:34:00Z'],
      ['Pacific/Auckland', '2026-11-20T02:04:00Z'],
    ] as const) {
      const instant = statedReset(`${LIMIT} 3pm`, { now: Date.parse(now), hostTimeZone: zone });
      expect(instant).toBe(Date.parse(now) - 4 * 60_000);
    }
  });

  test('across midnight, both ways', () => {
    expect(reset(`${SESSION} 11:50pm (UTC)`, '2026-11-21T00:04:00Z')).toBe('2026-11-20T23:50:00.000Z');
    expect(reset(`${SESSION} 12:10am (UTC)`, '2026-11-20T23:50:00Z')).toBe('2026-11-21T00:10:00.000Z');
  });

  test('in the hour that occurs twice is the later one if the window reaches it; in the missing hour it is the one after the gap', () => {
    expect(reset(`${SESSION} 1:30am (America/New_York)`, '2026-11-01T03:00:00Z')).toBe('2026-11-01T06:30:00.000Z');
    expect(reset(`${SESSION} 2:30am (Europe/Berlin)`, '2026-10-24T23:00:00Z')).toBe('2026-10-25T01:30:00.000Z');
    expect(reset(`${SESSION} 2:30am (America/New_York)`, '2026-03-08T05:00:00Z')).toBe('2026-03-08T07:30:00.000Z');
    expect(reset(`${SESSION} 3:30am (America/New_York)`, '2026-03-08T05:00:00Z')).toBe('2026-03-08T07:30:00.000Z');
  });

  test.each([
    'resets 30',
    'resets 25:00',
    'resets 13pm',
    'resets 3',
    'resets 9:75 AM',
    'resets soon',
    'resets 0am',
    'reset',
    'resets at',
    'resets 4pm (Moon/Tycho)',
    'resets 4pm (PQT)',
  ])('that is none: %s', (text) => {
    expect(reset(`5-hour limit reached ∙ ${text}`, '2026-11-20T03:15:00Z')).toBe(null);
  });
});

describe('a date', () => {
  test.each([
    [`${LIMIT} Nov 23 at 4pm (America/Recife)`, '2026-11-23T19:00:00.000Z'],
    [`${LIMIT} November 23, 4pm (UTC)`, '2026-11-23T16:00:00.000Z'],
    [`${LIMIT} Mon, Nov 23 at 4:15 pm (UTC)`, '2026-11-23T16:15:00.000Z'],
    [`${LIMIT} 23 Nov 2026 16:00 (UTC)`, '2026-11-23T16:00:00.000Z'],
    [`${LIMIT} 4:00 PM on Nov 23`, '2026-11-23T16:00:00.000Z'],
    [`${LIMIT} 2026-11-23T16:00:00Z`, '2026-11-23T16:00:00.000Z'],
    [`${LIMIT} 2026-11-23 16:00:00 +0800`, '2026-11-23T08:00:00.000Z'],
    ['Try again at Nov 21st, 2026 12:00 AM.', '2026-11-21T00:00:00.000Z'],
    ['Try again at Nov 22nd, 2026 12:30 PM.', '2026-11-22T12:30:00.000Z'],
    ['Try again at Dec 3rd, 2026 1:03 PM.', '2026-12-03T13:03:00.000Z'],
    ['Try again at Dec 11th, 2026 7:38 AM.', '2026-12-11T07:38:00.000Z'],
    ['try again at 10 de dez. de 2026, 11:52.', '2026-12-10T11:52:00.000Z'],
    ['try again at 1 déc. 2026 à 11:52.', '2026-12-01T11:52:00.000Z'],
    ['try again at 30. Nov. 2026, 11:52.', '2026-11-30T11:52:00.000Z'],
    ['Try again at Nov 19th, 2026 7:38 AM.', '2026-11-19T07:38:00.000Z'],
    ['try again at 2026/11/22 12:00.', '2026-11-22T12:00:00.000Z'],
    ['try again at 2026年11月22日 12:00.', '2026-11-22T12:00:00.000Z'],
    ['Try again at Nov 31st, 2026 7:38 AM.', null],
    ['Try again at Nov 20th, 2027 7:38 AM.', null],
    ['Try again at Nov 20th, 1999 7:38 AM.', null],
    [`You've hit your weekly limit · resets Dec 9, 7pm (UTC)`, null],
  ])('%s', (text, expected) => {
    expect(reset(text, '2026-11-20T03:15:00Z')).toBe(expected);
  });

  test('without a year is the nearest one, over New Year too', () => {
    expect(reset(`${LIMIT} Jan 2, 7pm (UTC)`, '2026-12-30T03:15:00Z')).toBe('2027-01-02T19:00:00.000Z');
    expect(reset(`${LIMIT} Dec 31, 7pm (UTC)`, '2027-01-01T03:15:00Z')).toBe('2026-12-31T19:00:00.000Z');
    expect(reset(`${LIMIT} Feb 29, 7pm (UTC)`, '2028-02-27T03:15:00Z')).toBe('2028-02-29T19:00:00.000Z');
    expect(reset(`${LIMIT} Feb 29, 7pm (UTC)`, '2027-02-27T03:15:00Z')).toBe(null);
  });
});

describe('a duration or a number', () => {
  test.each([
    ['try again in 2 days 17 hours 14 minutes.', '2026-11-22T20:29:00.000Z'],
    ['try again in 3h 20m', '2026-11-20T06:35:00.000Z'],
    ['Please try again in 1.5s.', '2026-11-20T03:15:01.500Z'],
    ['Please try again in 820ms.', '2026-11-20T03:15:00.820Z'],
    ['resets in 45 min', '2026-11-20T04:00:00.000Z'],
    ['resets in an hour', '2026-11-20T04:15:00.000Z'],
    ['resets in 2:30:00', '2026-11-20T05:45:00.000Z'],
    ['resets in 1:05', '2026-11-20T04:20:00.000Z'],
    ['retry after 30 seconds', '2026-11-20T03:15:30.000Z'],
    ['retry-after: 60', '2026-11-20T03:16:00.000Z'],
    ['{"type":"usage_limit_reached","resets_in_seconds":13872}', '2026-11-20T07:06:12.000Z'],
    ['limit reached|1795151700', '2026-11-20T05:15:00.000Z'],
    ['limit reached|1795151700000', '2026-11-20T05:15:00.000Z'],
    ['limit reached|1', null],
    ['limit reached|1595151700', null],
    ['5-hour limit reached|1795251700', null],
    ['try again in 400 days', null],
    ['session limit, try again in 6 hours 1 minute', null],
  ])('%s', (text, expected) => {
    expect(reset(text, '2026-11-20T03:15:00Z')).toBe(expected);
  });
});

describe('whatever the text', () => {
  const pieces = fc.constantFrom(
    ...[
      "You've hit your",
      'session limit',
      'weekly limit',
      'limit',
      'usage limit',
      '5-hour limit reached',
      ' · ',
      '∙',
      '|',
      ' resets ',
      'try again at ',
      'try again in ',
      'Retry after ',
      'at',
      'in',
    ],
    ...[
      '3pm',
      '12:30 AM',
      '18:00',
      '25:99',
      '99',
      'Nov 23',
      'Feb 30',
      'Nov 22nd, 2026',
      '23 de dez. de 2026',
      '2026-11-23T16:00:00Z',
      'tomorrow',
      'Monday',
      'noon',
      '1795151700',
      '99999999999',
      '1e99',
      '99999 days',
      '3 weeks 2 hours',
    ],
    ...[
      '(UTC)',
      '(America/New_York)',
      '(Moon/Tycho)',
      '(GMT+99)',
      '(',
      ')',
      ',',
      '.',
      ' ',
      '\n',
      '\u202f',
      '’',
      '🖐',
      '\u0000',
      '{"resets_at":',
      '}',
    ],
  );
  const text = fc.oneof(
    fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(' ')),
    fc.array(pieces, { maxLength: 10 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc
      .tuple(fc.constantFrom(SESSION, LIMIT, 'try again at', 'try again in'), pieces, pieces, pieces)
      .map((parts) => parts.join(' ')),
  );
  const zone = fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'Moon/Tycho', '');
  const now = fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2028-12-31T00:00:00Z') });

  test('for 10,000 texts nothing throws, and no reset is beyond its window or years away', () => {
    let read = 0;
    fc.assert(
      fc.property(text, zone, now, (sentence, hostTimeZone, at) => {
        const instant = statedReset(sentence, { now: at, hostTimeZone });
        if (instant === null) return;
        read += 1;
        expect(Number.isFinite(instant)).toBe(true);
        expect(instant).toBeLessThanOrEqual(at + windowLength(sentence.replace(/\s+/g, ' ')) + RESET_SLACK_MS);
        expect(instant).toBeLessThanOrEqual(at + LONGEST_WINDOW_MS + RESET_SLACK_MS);
        expect(instant).toBeGreaterThan(at - 36 * 86_400_000);
      }),
      { numRuns: 10_000 },
    );
    expect(read).toBeGreaterThan(200);
  });

  test('a time that passed less than half an hour ago is never waited a day for', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'),
        now,
        fc.integer({ min: 1, max: 28 }),
        fc.constantFrom(SESSION, LIMIT, "You've hit your weekly limit · resets"),
        (zone, at, minutes, prefix) => {
          const shown = new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: 'numeric', minute: '2-digit' }).format(
            new Date(at - minutes * 60_000),
          );
          const instant = statedReset(`${prefix} ${shown} (${zone})`, { now: at, hostTimeZone: 'UTC' });
          // An hour that occurs twice may be read as its later half.
          expect(instant === null || instant <= at + 3_600_000).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('what a CLI would print for a reset within its window is read back to the minute', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'Europe/London'),
        now,
        fc.integer({ min: 1, max: 299 }),
        (zone, at, minutes) => {
          const start = Math.floor(at / 60_000) * 60_000;
          const reset = start + minutes * 60_000;
          const shown = new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: 'numeric', minute: '2-digit' }).format(
            new Date(reset),
          );
          const instant = statedReset(`${SESSION} ${shown} (${zone})`, { now: start, hostTimeZone: 'UTC' });
          const off = instant === null ? Number.NaN : instant - reset;
          expect(off === 0 || Math.abs(off) === 3_600_000).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
