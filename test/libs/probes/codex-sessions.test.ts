import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCodexSessions, sessionRoots, verdict, type Probe, type SessionMemo, type SessionQuery } from '#probes';
import { countLine, DAY, HOUR, limits, MINUTE, NOW, rollout } from './rollouts.js';
import { scratchFolder } from './scratch-folder.js';

const read = (home: string, more: Partial<SessionQuery> = {}): Promise<Probe> =>
  readCodexSessions({ roots: sessionRoots(home), account: 'codex', now: NOW, ...more });
const percents = (probe: Probe): number[] | string =>
  probe.kind === 'dark' ? probe.reason : probe.reading.windows.map(({ usedPercent }) => usedPercent);
const day = 'sessions/2026/11/20';
const nothing = '{"timestamp":"2026-11-20T03:14:00.000Z","type":"session_meta","payload":{}}\n';

describe('the reading of a codex login', () => {
  it('carries the windows, when codex wrote them, the plan and what beside the subscription could be spent', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
      countLine(
        limits(37, 12, { plan_type: 'pro', credits: { has_credits: true, unlimited: false, balance: '9.5' } }),
        5 * MINUTE,
      ),
    );
    expect(await read(home)).toEqual({
      kind: 'reading',
      reading: {
        account: 'codex',
        source: 'codex session log',
        writtenAt: NOW - 5 * MINUTE,
        readAt: NOW,
        plan: 'pro',
        complete: true,
        reached: null,
        overage: { enabled: true, inUse: null, unlimited: false, balance: '9.5', usedPercent: null },
        windows: [
          { id: 'five_hour', kind: 'five_hour', usedPercent: 37, resetsAt: NOW + 2 * HOUR, scope: null },
          { id: 'weekly', kind: 'weekly', usedPercent: 12, resetsAt: NOW + 4 * DAY, scope: null },
        ],
      },
    });
  });

  it.each([5 * MINUTE, -5 * MINUTE])(
    "is the same on a box whose clock is %d ms off: its lines are moved, the vendor's resets are not",
    async (ahead) => {
      const home = await scratchFolder();
      // The box writes its own time into lines and files; NOW is the time that all boxes share.
      const soon = limits(96, 12, {
        primary: { used_percent: 96, window_minutes: 300, resets_at: (NOW + 2 * MINUTE) / 1000 },
      });
      await rollout(
        home,
        `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
        countLine(soon, 3 * MINUTE - ahead),
        3 * MINUTE - ahead,
      );
      const probe = await read(home, { offsetMs: -ahead });
      expect(probe).toMatchObject({
        kind: 'reading',
        reading: {
          writtenAt: NOW - 3 * MINUTE,
          readAt: NOW,
          windows: [{ usedPercent: 96, resetsAt: NOW + 2 * MINUTE }, { usedPercent: 12 }],
        },
      });
    },
  );

  it('may be looked for in the newest files only', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(20, 1), 5 * MINUTE));
    await rollout(home, 'sessions/2026/11/01/rollout-2026-11-01T02-00-00-b.jsonl', countLine(limits(30, 1), MINUTE));
    expect(percents(await read(home, { maxFiles: 1 }))).toEqual([20, 1]);
    expect(percents(await read(home))).toEqual([30, 1]);
  });

  it('is the newest one written, in whichever of several parallel files it is and whichever was touched last', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(20, 1), 10 * MINUTE), 0);
    await rollout(home, `${day}/rollout-2026-11-20T02-00-00-b.jsonl`, countLine(limits(30, 1), 2 * MINUTE), 2 * MINUTE);
    await rollout(home, `${day}/rollout-2026-11-20T01-00-00-c.jsonl`, countLine(limits(10, 1), 20 * MINUTE), MINUTE);
    expect(percents(await read(home))).toEqual([30, 1]);
  });

  it('is found though a copy gave its file a modification time long ago', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T02-00-00-b.jsonl`, countLine(limits(30, 1), 2 * MINUTE), 9 * DAY);
    for (let n = 0; n < 5; n++)
      await rollout(
        home,
        `sessions/2026/11/19/rollout-2026-11-19T0${n}-00-00-a.jsonl`,
        countLine(limits(20, 1), 90 * MINUTE),
        0,
      );
    expect(percents(await read(home))).toEqual([30, 1]);
  });

  it('is found in the folder of an old day, where a resumed session goes on, behind many newer ones', async () => {
    const home = await scratchFolder();
    for (let n = 10; n < 40; n++)
      await rollout(
        home,
        `sessions/2026/11/19/rollout-2026-11-19T10-00-${n}-x.jsonl`,
        countLine(limits(20, 1), 9 * HOUR),
        9 * HOUR,
      );
    await rollout(
      home,
      'sessions/2026/7/4/rollout-2026-07-04T03-00-00-aa.jsonl',
      countLine(limits(50, 60), 9 * DAY) + countLine(limits(8, 3), MINUTE),
      MINUTE,
    );
    expect(percents(await read(home))).toEqual([8, 3]);
  });

  it('is found in the folder of tomorrow: the box may be ahead of UTC', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(20, 1), 3 * HOUR), 3 * HOUR);
    await rollout(home, 'sessions/2026/11/21/rollout-2026-11-21T16-10-00-b.jsonl', countLine(limits(25, 1)));
    expect(percents(await read(home))).toEqual([25, 1]);
  });

  it.each(['archived_sessions/', 'archived_sessions/2026/11/20/', 'sessions/', 'sessions/2026/11/'])(
    'is found in %s too',
    async (folder) => {
      const home = await scratchFolder();
      await rollout(home, `${folder}rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(25, 1)));
      expect(percents(await read(home))).toEqual([25, 1]);
    },
  );

  it('is found behind forty newer sessions that hold none', async () => {
    const home = await scratchFolder();
    for (let n = 10; n < 50; n++)
      await rollout(home, `${day}/rollout-2026-11-20T03-00-${n}-x.jsonl`, nothing + countLine(null), MINUTE);
    await rollout(
      home,
      'sessions/2026/10/31/rollout-2026-10-31T03-00-00-a.jsonl',
      countLine(limits(44, 20), 2 * HOUR),
      2 * HOUR,
    );
    expect(percents(await read(home))).toEqual([44, 20]);
  });

  it('does not come from files that are no session of this login', async () => {
    const home = await scratchFolder();
    for (const path of [
      'history.jsonl',
      `${day}/notes.jsonl`,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl.bak`,
      'sessions/backup/2026/11/20/rollout-2026-11-20T03-00-00-a.jsonl',
      `${day}/deep/rollout-2026-11-20T03-00-00-a.jsonl`,
      `${day}/20/rollout-2026-11-20T03-00-00-a.jsonl`,
    ]) {
      await rollout(home, path, countLine(limits(100, 100)));
    }
    expect(percents(await read(home))).toBe('no_sessions');
  });

  it('comes from lines after a block of NULs, with CRLF ends or a byte order mark, and from a line whose end is not written yet', async () => {
    for (const text of [
      `${'\0'.repeat(200_000)}${countLine(limits(25, 1))}`,
      countLine(limits(25, 1)).replace('\n', '\r\n'),
      `\uFEFF${countLine(limits(25, 1))}`,
      countLine(limits(25, 1)).trimEnd(),
    ]) {
      const home = await scratchFolder();
      await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, text);
      expect(percents(await read(home))).toEqual([25, 1]);
    }
  });

  it('is not taken from the far future, where a wrong clock would make it the newest for ever', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T02-00-00-a.jsonl`, countLine(limits(5, 5), -300 * DAY), 30 * MINUTE);
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-b.jsonl`, countLine(limits(61, 5), MINUTE));
    expect(percents(await read(home))).toEqual([61, 5]);
  });

  it('was never written later than now, even by a clock five minutes ahead', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-b.jsonl`,
      countLine(limits(61, 5), -4 * MINUTE),
      -4 * MINUTE,
    );
    expect(await read(home)).toMatchObject({ reading: { writtenAt: NOW } });
  });

  it('without a time of its own was written when its file was touched', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-b.jsonl`,
      countLine({ primary: { used_percent: 9, window_minutes: 300, resets_in_seconds: 3600 } }, null),
      20 * MINUTE,
    );
    expect(await read(home)).toMatchObject({
      reading: { writtenAt: NOW - 20 * MINUTE, windows: [{ usedPercent: 9, resetsAt: NOW + 40 * MINUTE }] },
    });
  });

  it('follows a linked sessions folder, and does not wait at a pipe', async () => {
    const home = await scratchFolder();
    const elsewhere = await scratchFolder();
    await rollout(elsewhere, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(25, 1)));
    execFileSync('mkfifo', [join(elsewhere, day, 'rollout-2026-11-20T04-00-00-b.jsonl')]);
    await symlink(join(elsewhere, 'sessions'), join(home, 'sessions'));
    expect(percents(await read(home))).toEqual([25, 1]);
  });
});

describe('the vendor saying that the account is closed', () => {
  const state = async (home: string) => {
    const probe = await read(home);
    return probe.kind === 'dark'
      ? probe.reason
      : { percents: percents(probe), ...verdict(probe.reading.windows, probe.reading.reached) };
  };
  const depleted = {
    limit_id: 'premium',
    primary: null,
    secondary: null,
    rate_limit_reached_type: 'workspace_member_credits_depleted',
  };

  it('is believed beside windows that still have room', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
      countLine(limits(92, 31, { spend_control_reached: true })),
    );
    expect(await state(home)).toEqual({
      percents: [92, 31],
      exhausted: true,
      blockedUntil: NOW + 2 * HOUR,
      needsPerson: false,
    });
  });

  it('is over once the window it spoke of has reset', async () => {
    const home = await scratchFolder();
    const past = { used_percent: 92, window_minutes: 300, resets_at: (NOW - MINUTE) / 1000 };
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
      countLine(limits(92, 31, { primary: past, rate_limit_reached_type: 'rate_limit_reached' }), 2 * HOUR),
    );
    expect(await state(home)).toEqual({ percents: [0, 31], exhausted: false, blockedUntil: null, needsPerson: false });
  });

  it('is over once a later line no longer says so', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
      countLine(depleted, 9 * MINUTE) + countLine(limits(40, 10, { rate_limit_reached_type: null })),
    );
    expect(await state(home)).toMatchObject({ percents: [40, 10], exhausted: false });
  });

  it('is over as well once a parallel session was answered after it', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-b.jsonl`, countLine(depleted, 9 * MINUTE));
    await rollout(home, `${day}/rollout-2026-11-20T02-00-00-a.jsonl`, countLine(limits(40, 10)));
    expect(await state(home)).toMatchObject({ percents: [40, 10], exhausted: false });
    expect(await read(home)).toMatchObject({ reading: { reached: null } });
  });

  it('counts without windows of its own, beside the figures written before, which look no younger for it', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T02-00-00-a.jsonl`,
      countLine(limits(40, 10), 30 * MINUTE),
      30 * MINUTE,
    );
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-b.jsonl`, countLine(depleted));
    expect(await state(home)).toEqual({
      percents: [40, 10],
      exhausted: true,
      blockedUntil: NOW + 2 * HOUR,
      needsPerson: false,
    });
    expect(await read(home)).toMatchObject({
      reading: { writtenAt: NOW - 30 * MINUTE, reached: { flag: 'workspace_member_credits_depleted' } },
    });
  });

  it('needs a person when nothing else is known', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-b.jsonl`, countLine(depleted));
    expect(await state(home)).toEqual({ percents: [], exhausted: true, blockedUntil: null, needsPerson: true });
    expect(await read(home)).toMatchObject({ reading: { complete: false } });
  });

  it('waits for the reset of a spending limit when no window opens before', async () => {
    const home = await scratchFolder();
    const spent = {
      primary: null,
      secondary: null,
      spend_control_reached: true,
      individual_limit: { limit: '50', used: '50', resets_at: (NOW + 3 * DAY) / 1000 },
    };
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-b.jsonl`, countLine(spent));
    expect(await state(home)).toMatchObject({ exhausted: true, blockedUntil: NOW + 3 * DAY, needsPerson: false });
  });

  it('says nothing about the account if it belongs to the pool of one model', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-b.jsonl`,
      countLine(limits(40, 10), 9 * MINUTE) +
        countLine({ ...depleted, limit_id: 'codex_bengalfox' }) +
        countLine(limits(100, 100, { limit_id: 'codex_bengalfox' })),
    );
    expect(await state(home)).toMatchObject({ percents: [40, 10], exhausted: false });
  });
});

describe('a codex meter that stays dark says why', () => {
  it('when no session was ever written', async () => {
    expect(await read(join(await scratchFolder(), 'absent'))).toMatchObject({ kind: 'dark', reason: 'no_sessions' });
  });

  it('when this build writes no limits, or only those of one model', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, nothing + countLine(null));
    expect(await read(home)).toMatchObject({ kind: 'dark', reason: 'no_reading' });
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
      countLine(limits(100, 100, { limit_id: 'codex_bengalfox' })),
    );
    expect(await read(home)).toMatchObject({ kind: 'dark', reason: 'other_pool_only' });
  });

  it('when the bound on reading came before a reading', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(1, 1)) + nothing.repeat(50_000));
    expect(await read(home, { maxFileBytes: 1024 * 1024 })).toMatchObject({ kind: 'dark', reason: 'read_bound' });
    expect(percents(await read(home))).toEqual([1, 1]);
  });

  it.skipIf(process.getuid?.() === 0)('when the files belong to somebody else', async () => {
    const home = await scratchFolder();
    await rollout(home, `${day}/rollout-2026-11-20T03-00-00-a.jsonl`, countLine(limits(1, 1)));
    await chmod(join(home, day, 'rollout-2026-11-20T03-00-00-a.jsonl'), 0o000);
    expect(await read(home)).toMatchObject({ kind: 'dark', reason: 'unreadable' });
  });
});

describe('what was read before', () => {
  it('is not read again while a file stays as it is, and is forgotten with it', async () => {
    const home = await scratchFolder();
    const memo: SessionMemo = new Map();
    const path = `${day}/rollout-2026-11-20T03-00-00-a.jsonl`;
    await rollout(home, path, countLine(limits(25, 1)));
    expect(percents(await read(home, { memo }))).toEqual([25, 1]);
    // Same length and time: only a reader that opened the file would see the other figure.
    await rollout(home, path, countLine(limits(26, 1)));
    expect(percents(await read(home, { memo }))).toEqual([25, 1]);
    await rollout(home, path, countLine(limits(26, 1)) + countLine(limits(27, 1), 0), 0);
    expect(percents(await read(home, { memo }))).toEqual([27, 1]);
    await cp(join(home, day), join(home, 'elsewhere'), { recursive: true });
    await writeFile(join(home, path), '');
    expect(percents(await read(home, { memo }))).toBe('no_sessions');
    expect(memo.size).toBe(0);
  });

  it('is judged by the clock of each call', async () => {
    const home = await scratchFolder();
    const memo: SessionMemo = new Map();
    await rollout(
      home,
      `${day}/rollout-2026-11-20T03-00-00-a.jsonl`,
      countLine(limits(92, 31, { rate_limit_reached_type: 'rate_limit_reached' })),
    );
    expect(await read(home, { memo })).toMatchObject({ reading: { reached: { flag: 'rate_limit_reached' } } });
    expect(await read(home, { memo, now: NOW + 2 * HOUR })).toMatchObject({
      reading: { reached: null, windows: [{ usedPercent: 0 }, { usedPercent: 31 }] },
    });
  });
});

describe('session files that codex really wrote', () => {
  const samples = new URL('../../vendor-sim/samples/codex/', import.meta.url);

  it('give a reading wherever an answer carried the limits, and say unknown where the request failed before', async () => {
    const seen: Record<string, unknown> = {};
    for (const name of (await readdir(samples)).filter((one) => one.endsWith('.rollout.jsonl'))) {
      const home = await scratchFolder();
      const path = join(home, 'sessions/2026/11/29/rollout-2026-11-29T23-20-19-x.jsonl');
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, await readFile(new URL(name, samples)));
      await utimes(path, 1795994423, 1795994423);
      seen[name.split('.')[0] ?? ''] = percents(await read(home, { now: 1795994423_000 }));
    }
    expect(seen).toEqual({
      'auth-expired': 'no_reading',
      'bad-request': 'no_reading',
      cut: [2, 5],
      echo: [2, 5],
      empty: [2, 5],
      json: [2, 5],
      overloaded: 'no_reading',
      'rate-limit': 'no_reading',
      'server-error': 'no_reading',
      tool: [2, 5],
      'usage-limit': [100, 5],
    });
  });
});
