import { describe, expect, test } from 'vitest';
import type { LimitsData } from '#contract';
import { limitsLine } from '#cli/output/limits-line';
import { paintFor } from '#cli/output/paint';
import { data, good, HOUR, iso, meter, MINUTE, NOW, window } from './account-meters.js';

const line = (given: LimitsData): string => limitsLine(given, paintFor(false), NOW);

describe('cmo limits --line', () => {
  test('one part an account; windows of some models are named only from critical on', () => {
    const claude = meter('claude', [
      window('five_hour', 30.04, HOUR),
      window('weekly:opus', 97, 90 * HOUR),
      window('weekly:sonnet', 84, 90 * HOUR),
    ]);
    expect(line(data(good, claude))).toBe('codex 37% 5-hour ok 2h 00m | claude 30% 5-hour ok 1h 00m, opus 97%');
  });

  test('an account without a number says why its meter is dark, or until when it refuses work', () => {
    const dark = meter('claude', [], {
      reading: null,
      dark: { reason: 'throttled', detail: 'later', since: iso(-MINUTE), nextTryAt: null },
    });
    expect(line(data(dark))).toBe('claude unknown (throttled)');
    const refused = meter('claude', [], { reading: null, closed: { until: iso(3 * HOUR), reason: 'usage_limit' } });
    expect(line(data(refused))).toBe('claude closed 3h 00m');
  });

  test('a picture from a daemon that has gone says how old it is, and when it is too old nothing else', () => {
    expect(line({ ...data(good), writtenAt: iso(-10 * MINUTE) })).toBe(
      'codex 37% 5-hour ok 2h 00m | as of 10m 00s ago',
    );
    expect(line({ ...data(good), writtenAt: iso(-2 * HOUR) })).toBe('codex unknown | as of 2h 00m ago');
  });
});
