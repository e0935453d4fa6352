import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { AccountMeter, LimitsData } from '#contract';
import { limitsLine } from '#cli/output/limits-line';
import { limitsText } from '#cli/output/limits-text';
import { paintFor } from '#cli/output/paint';
import { data, good, HOUR, iso, meter, MINUTE, NOW, window } from './account-meters.js';

const plain = paintFor(false);

beforeEach(() => void vi.stubEnv('TZ', 'Asia/Kolkata'));

/** Text and line, as a person and a status bar see them. */
const shown = (given: LimitsData): string =>
  [...limitsText(given, plain, NOW).slice(0, -2), '', limitsLine(given, plain, NOW)].join('\n');

describe('cmo limits', () => {
  test('fresh: the binding window first, the vendor’s percent beside the effective one, and reset in local time and countdown', () => {
    const claude = meter(
      'claude',
      [window('weekly', 27, 100 * HOUR), window('five_hour', 64, 130 * MINUTE, { reserved: 3, settling: 1.25 })],
      { inFlight: 3, reading: { plan: 'max' } },
    );
    expect(shown(data(good, claude))).toMatchInlineSnapshot(`
      "codex  ok  as of 8s ago, from codex session log, plan pro
         5-hour  ████······  37%    ok  resets 10:45 (in 2h 00m)
         weekly  █·········  12%    ok  resets 2026-11-24 10:45 (in 4d 2h)

      claude  tight  as of 12s ago, from claude usage endpoint, plan max, 3 in flight
         5-hour  ███████···  64%  effective 68.3% (3 reserved, 1.3 settling)  tight  resets 10:55 (in 2h 10m)
         weekly  ███·······  27%                                              ok     resets 2026-11-24 12:45 (in 4d 4h)

      codex 37% 5-hour ok 2h 00m | claude 68.3% 5-hour tight 2h 10m"
    `);
  });

  test('stale: the number stays, labelled with its age', () => {
    expect(shown(data(meter('codex', [window('five_hour', 37, 2 * HOUR)], { age: 25 * MINUTE }))))
      .toMatchInlineSnapshot(`
      "codex  ok  as of 25m 00s ago (stale), from codex session log
         5-hour  ████······  37%    ok  resets 10:45 (in 2h 00m)

      codex 37% 5-hour ok 2h 00m"
    `);
  });

  test('dark: the meter that cannot be trusted comes first, with one sentence that says why and when it is asked again', () => {
    const throttled = meter('claude', [window('five_hour', 40, HOUR)], {
      age: 31 * MINUTE,
      dark: {
        reason: 'throttled',
        detail: 'The usage endpoint throttles the meter; the account itself is not affected.',
        since: iso(-30 * MINUTE),
        nextTryAt: iso(2 * MINUTE),
      },
    });
    expect(shown(data(good, throttled))).toMatchInlineSnapshot(`
      "claude  ok  as of 31m 00s ago (stale), from claude usage endpoint
        no new numbers since 08:15 (30m 00s ago): The usage endpoint throttles the meter; the account itself is not affected. It is asked again at 08:47 (in 2m 00s).
         5-hour  ████······  40%    ok  resets 09:45 (in 1h 00m)

      codex  ok  as of 8s ago, from codex session log, plan pro
         5-hour  ████······  37%    ok  resets 10:45 (in 2h 00m)
         weekly  █·········  12%    ok  resets 2026-11-24 10:45 (in 4d 2h)

      claude 40% 5-hour ok 1h 00m (31m 00s old) | codex 37% 5-hour ok 2h 00m"
    `);
  });

  test('dark: without a reading nothing is guessed', () => {
    const never = meter('codex', [], {
      reading: null,
      dark: {
        reason: 'no_sessions',
        detail: 'There is no session file yet: nothing has run on this login.',
        since: iso(-2 * MINUTE),
        nextTryAt: null,
      },
    });
    expect(shown(data(meter('claude', [window('five_hour', 3, HOUR)]), never))).toMatchInlineSnapshot(`
      "codex  unknown
        the meter is dark since 08:43 (2m 00s ago), so few run at once: There is no session file yet: nothing has run on this login.

      claude  ok  as of 12s ago, from claude usage endpoint
         5-hour  ··········  3%    ok  resets 09:45 (in 1h 00m)

      codex unknown (no_sessions) | claude 3% 5-hour ok 1h 00m"
    `);
  });

  test('dark: a reading older than an hour, although runs have ended since', () => {
    expect(
      shown(data(meter('codex', [window('five_hour', 37, 2 * HOUR)], { age: 2 * HOUR, lastRunEndedAt: iso(-HOUR) }))),
    ).toMatchInlineSnapshot(`
      "codex  ok  as of 2h 00m ago (dark), from codex session log
        the meter is dark, so few run at once: runs have ended since it was read.
         5-hour  ████······  37%    ok  resets 10:45 (in 2h 00m)

      codex 37% 5-hour ok 2h 00m (2h 00m old)"
    `);
  });

  test('expired token: nothing is started, and it says what was tried', () => {
    const claude = meter('claude', [window('five_hour', 40, HOUR)], {
      age: 20 * MINUTE,
      dark: { reason: 'repair_failed', detail: 'x', since: iso(-MINUTE), nextTryAt: null },
    });
    claude.lanes = claude.lanes.map((lane) => ({
      ...lane,
      hold: "the login has lapsed and could not be renewed: claude is not on the daemon's PATH",
    }));
    expect(shown(data(good, claude))).toMatchInlineSnapshot(`
      "claude  closed  as of 20m 00s ago (stale), from claude usage endpoint
        nothing is started: the login has lapsed and could not be renewed: claude is not on the daemon's PATH.
         5-hour  ████······  40%    ok  resets 09:45 (in 1h 00m)

      codex  ok  as of 8s ago, from codex session log, plan pro
         5-hour  ████······  37%    ok  resets 10:45 (in 2h 00m)
         weekly  █·········  12%    ok  resets 2026-11-24 10:45 (in 4d 2h)

      claude 40% 5-hour closed (20m 00s old) | codex 37% 5-hour ok 2h 00m"
    `);
  });

  test('weekly only: newer plans have no 5-hour window', () => {
    expect(shown(data(meter('codex', [window('weekly', 88, 30 * HOUR)])))).toMatchInlineSnapshot(`
      "codex  critical  as of 12s ago (stale), from codex session log
         weekly  █████████·  88%    critical  resets 2026-11-21 14:45 (in 30h 00m)

      codex 88% weekly critical 30h 00m"
    `);
  });

  test('both exhausted: until when', () => {
    const codex = meter('codex', [window('five_hour', 96, HOUR), window('weekly', 50, 90 * HOUR)], { age: 5_000 });
    const claude = meter('claude', [window('five_hour', 12, HOUR)], {
      closed: { until: iso(3 * HOUR), reason: 'usage_limit' },
    });
    expect(shown(data(codex, claude))).toMatchInlineSnapshot(`
      "codex  exhausted  as of 5s ago, from codex session log
         5-hour  ██████████  96%    exhausted  resets 09:45 (in 1h 00m)
         weekly  █████·····  50%    ok         resets 2026-11-24 02:45 (in 3d 18h)

      claude  closed  as of 12s ago, from claude usage endpoint, refused work (usage_limit), so closed until 11:45 (in 3h 00m) whatever the windows show
         5-hour  █·········  12%    ok  resets 09:45 (in 1h 00m)

      codex 96% 5-hour exhausted 1h 00m | claude 12% 5-hour closed 3h 00m"
    `);
  });

  test('a window of some models that is full comes first, and does not close the account', () => {
    expect(
      shown(
        data(
          meter('claude', [
            window('five_hour', 30, HOUR),
            window('weekly', 60, 90 * HOUR),
            window('weekly:opus', 97, 90 * HOUR),
          ]),
        ),
      ),
    ).toMatchInlineSnapshot(`
      "claude  ok  as of 12s ago, from claude usage endpoint
         weekly of opus  ██████████  97%    exhausted  resets 2026-11-24 02:45 (in 3d 18h)
         weekly          ██████····  60%    ok         resets 2026-11-24 02:45 (in 3d 18h)
         5-hour          ███·······  30%    ok         resets 09:45 (in 1h 00m)

      claude 60% weekly ok 3d 18h, opus 97%"
    `);
  });

  test('credits are shown apart and are no room', () => {
    const codex = meter('codex', [window('five_hour', 96, HOUR)], {
      reading: {
        plan: 'plus',
        overage: { enabled: true, inUse: null, unlimited: false, balance: '9.50', usedPercent: null },
      },
    });
    const claude = meter('claude', [window('five_hour', 20, HOUR)], {
      reading: {
        overage: { enabled: true, inUse: true, unlimited: false, balance: '1250 of 5000 cents', usedPercent: 25 },
      },
    });
    expect(shown(data(codex, claude))).toMatchInlineSnapshot(`
      "codex  exhausted  as of 12s ago (stale), from codex session log, plan plus
         5-hour  ██████████  96%    exhausted  resets 09:45 (in 1h 00m)
        credits: 9.50; never counted as room

      claude  ok  as of 12s ago, from claude usage endpoint
         5-hour  ██········  20%    ok  resets 09:45 (in 1h 00m)
        extra usage: 1250 of 5000 cents, 25% used, being spent now; never counted as room

      codex 96% 5-hour exhausted 1h 00m | claude 20% 5-hour ok 1h 00m"
    `);
  });

  test("the vendor's statement outranks its percents, and other obstacles are shown", () => {
    const codex = meter('codex', [window('five_hour', 40, HOUR)], {
      paused: true,
      reading: { reached: { flag: 'rate_limit_reached', resetsAt: iso(HOUR) } },
    });
    const claude = meter('claude', [window('five_hour', 20, -MINUTE, { settling: 2 })], {
      costs: [
        { lane: 'claude', tier: 'frontier', window: 'five_hour', points: 2.14, measured: 12 },
        { lane: 'claude', tier: 'frontier', window: 'weekly', points: 0.4, measured: 11 },
        { lane: 'claude', tier: 'fast', window: 'five_hour', points: 1, measured: 0 },
      ],
    });
    claude.lanes = [
      ...claude.lanes.map((lane) => ({ ...lane, installed: false, endpoint: '127.0.0.1:9' })),
      { ...(claude.lanes[0] as AccountMeter['lanes'][number]), id: 'claude-2' },
    ];
    expect(shown(data(codex, claude))).toMatchInlineSnapshot(`
      "codex  paused  as of 12s ago (stale), from codex session log, the vendor says it is used up (rate_limit_reached) until 09:45 (in 1h 00m)
         5-hour  ████······  40%    ok  resets 09:45 (in 1h 00m)

      claude  missing  as of 12s ago, from claude usage endpoint, lanes claude, claude-2, claude is not on PATH, claude endpoint 127.0.0.1:9
         5-hour  ··········  0%    ok  reset not known
        an attempt of claude frontier costs 2.1 of 5-hour (mean of 12), 0.4 of weekly (mean of 11)

      codex 40% 5-hour paused | claude missing"
    `);
  });

  test('a picture from a daemon that has gone says how old it is; too old a one is unknown', () => {
    expect(limitsText({ ...data(good), writtenAt: iso(-10 * MINUTE) }, plain, NOW)[0]).toBe(
      'what a daemon wrote 10m 00s ago, on box-1; `cmo limits --refresh` asks anew',
    );
    const ancient = { ...data(good), writtenAt: iso(-2 * HOUR) };
    expect(limitsText(ancient, plain, NOW).slice(0, 3).join('\n')).toMatchInlineSnapshot(`
      "what a daemon wrote 2h 00m ago, on box-1: too old to go by, so everything counts as unknown; \`cmo limits --refresh\` asks anew

      codex  unknown  as of 8s ago, from codex session log, plan pro"
    `);
  });

  test('colours repeat the band’s word, they never replace it', () => {
    const colour = paintFor(true);
    const text = limitsText(data(meter('codex', [window('five_hour', 96, HOUR)])), colour, NOW).join('\n');
    expect(text).toContain('exhausted');
  });
});
