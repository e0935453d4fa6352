import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isoSecond, parseInstant } from '#probes/instants';

const at = Date.UTC(2026, 10, 20, 5, 15, 0);
const zone = process.env['TZ'];

afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

describe('an instant as a vendor writes it', () => {
  it.each(['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'])('reads the same on a box in %s', (box) => {
    process.env['TZ'] = box;
    const texts = [
      '2026-11-20T05:15:00Z',
      '2026-11-20T05:15:00',
      '2026-11-20 05:15:00',
      '2026-11-19T21:15:00-08:00',
      '2026-11-20T10:45:00+0530',
      '2026-11-20T06:15+01',
    ];
    for (const text of texts) expect(parseInstant(text), text).toBe(at);
    expect(parseInstant('2026-11-20T05:15:00.528743+00:00')).toBe(at + 528);
    // The hour that a zone's clock skips in spring, and the one it has twice in autumn, are plain hours in UTC.
    expect(parseInstant('2026-03-08T02:30:00')).toBe(Date.UTC(2026, 2, 8, 2, 30));
    expect(parseInstant('2026-11-01T01:30:00')).toBe(Date.UTC(2026, 10, 1, 1, 30));
  });

  it('reads epoch seconds and milliseconds, also as a text', () => {
    for (const value of [at / 1000, at, String(at / 1000), ` ${at} `]) expect(parseInstant(value)).toBe(at);
  });

  it('returns null for what is not an instant', () => {
    for (const value of [
      null,
      undefined,
      '',
      'soon',
      0,
      -5,
      true,
      {},
      [at],
      Number.NaN,
      Infinity,
      1e308,
      '2026-13-01',
      '2026-02-30T00:00:00Z',
      '2026-11-20T05:75:00Z',
      '5:15 PM',
    ]) {
      expect(parseInstant(value), String(value)).toBeNull();
    }
  });

  it('never throws, and gives null or a time that can be printed, for 10,000 texts', () => {
    const shaped = fc
      .tuple(
        fc.integer({ min: 0, max: 99_999 }),
        fc.nat(99),
        fc.nat(99),
        fc.nat(99),
        fc.nat(99),
        fc.constantFrom('Z', '', '+99:99', '-00:00', 'z', ' '),
      )
      .map(([y, m, d, h, s, z]) => `${y}-${m}-${d}T${h}:${s}${z}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), shaped, fc.double(), fc.anything()), (value) => {
        const instant = parseInstant(value);
        if (instant !== null) expect(isoSecond(instant)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      }),
      { numRuns: 10_000 },
    );
  });
});
