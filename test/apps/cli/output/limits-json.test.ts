import { describe, expect, test } from 'vitest';
import { limitsJson } from '#cli/output/limits-json';
import { data, good, HOUR, iso, meter, NOW, window } from './account-meters.js';

describe('cmo limits --json', () => {
  test('has the older tool’s names per lane, and all that is known under accounts', () => {
    const json = limitsJson(
      data(
        good,
        meter('claude', [window('five_hour', 64, HOUR, { reserved: 3 }), window('weekly:opus', 97, HOUR)], {
          inFlight: 2,
          dark: { reason: 'throttled', detail: 'later', since: iso(0), nextTryAt: null },
        }),
      ),
      NOW,
    );
    expect(json).toMatchObject({
      schema: 'cmo.limits/1',
      ok: true,
      codex: {
        provider: 'codex',
        available: true,
        worstPercent: 37,
        worstWindow: 'five_hour',
        nextResetAt: iso(2 * HOUR),
        hardBlocked: false,
        plan: 'pro',
        source: 'codex session log',
        checkedAt: iso(-8_000),
        installed: true,
        inFlightAgents: 0,
        committedPoints: 0,
        state: 'ok',
        meter: 'fresh',
        ageSeconds: 8,
      },
      claude: {
        worstPercent: 67,
        reportedPercent: 64,
        committedPoints: 3,
        error: 'later',
        windows: [
          { key: 'weekly:opus', label: 'weekly of opus', percentUsed: 97, scope: 'opus' },
          { key: 'five_hour', label: '5-hour', percentUsed: 67, reportedPercent: 64, reserved: 3 },
        ],
      },
      inFlight: { codex: 0, claude: 2 },
      fleet: false,
    });
  });
});
