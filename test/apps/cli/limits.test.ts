import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MetersFile } from '#contract';
import { openCmo, type Cmo } from '../../support/cmo.js';
import { waitUntil } from '../../support/wait-until.js';
import { writeLogin } from '../worker/prober/login-file.js';
import { openDoor, type UsageDoor } from '../worker/prober/usage-door.js';

let door: UsageDoor;
let box: Cmo;
beforeEach(async () => {
  door = await openDoor();
  box = openCmo();
  const config = JSON.parse(readFileSync(box.configFile, 'utf8')) as {
    lanes: Record<string, { usageUrl?: string; env: Record<string, string> }>;
  };
  const claude = config.lanes['claude'];
  if (!claude) throw new Error('no claude lane');
  claude.usageUrl = `${door.url}/api/oauth/usage`;
  writeLogin(join(claude.env['CLAUDE_CONFIG_DIR'] ?? '', '.credentials.json'));
  writeFileSync(box.configFile, JSON.stringify(config));
});
afterEach(async () => {
  await box.close();
  await door.close();
});

type Limits = {
  ok: boolean;
  claude: { state: string; worstPercent: number; source: string };
  codex: { state: string; available: boolean; error?: string };
};

describe('cmo limits', () => {
  test('calls every window unknown before the first reading, says how to get one, and starts nothing for it', async () => {
    const said = await box.cmo(['limits', '--human']);
    expect(said.code).toBe(0);
    expect(said.stdout).toMatch(/^codex +unknown/);
    expect(said.stdout).not.toMatch(/\d%.*resets/);
    expect(said.stderr).toContain('cmo limits --refresh');
    expect(await box.ask<Limits>(['limits'])).toMatchObject({
      codex: { state: 'unknown', source: null, worstPercent: null },
      claude: { state: 'unknown' },
    });
    expect((await box.cmo(['limits', '--line'])).stdout).toBe('cmo: no meter read yet\n');
    expect(box.daemonPids()).toEqual([]);
  });

  test('--refresh starts the daemon and asks the vendors, once; without it none is asked, and the last reading outlives the daemon', async () => {
    const first = await box.ask<Limits>(['limits', '--refresh']);
    expect(first).toMatchObject({
      ok: true,
      claude: { state: 'ok', worstPercent: 27, source: 'claude usage endpoint' },
      codex: { state: 'unknown', available: false },
    });
    expect(first.codex.error).toContain('nothing has run on this login');
    await box.ask<Limits>(['limits', '--refresh']);
    await box.ask<Limits>(['limits']);
    expect(door.calls).toHaveLength(1);
    await waitUntil(async () => (await box.cmo(['limits', '--line'])).stdout.includes('27%'));
    expect((await box.cmo(['limits', '--line'])).stdout).toMatch(
      /^codex unknown \(no_sessions\) \| claude 27% weekly ok 4d \d+h\n$/,
    );
    await box.cmo(['down']);
    const human = await box.cmo(['limits', '--human']);
    expect(human.code).toBe(0);
    expect(human.stdout).toMatch(/^codex {2}unknown\n/);
    expect(human.stdout).toContain('claude  ok  as of ');
    expect(box.daemonPids()).toEqual([]);
  });

  test('exits 3 when no lane is usable, and guard with it', async () => {
    door.sim.quota.set({ claude: { five_hour: { utilization: 97, resets_in_seconds: 3600 } } });
    await box.ask(['limits', '--refresh']);
    const file = join(box.stateDir, 'meters.json');
    await box.cmo(['down']);
    const meters = JSON.parse(readFileSync(file, 'utf8')) as MetersFile;
    for (const account of meters.accounts)
      if (account.account === 'codex') account.lanes = account.lanes.map((lane) => ({ ...lane, installed: false }));
    writeFileSync(file, JSON.stringify(meters));
    expect((await box.cmo(['limits', '--human'])).code).toBe(3);
    expect(await box.cmo(['guard'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /^no lane takes work: codex missing, claude exhausted; the first opens at .*\d\d:\d\d \(in [^)]+\)\n$/,
      ) as string,
    });
    rmSync(file);
  });

  test('with a flag that cannot be meant is refused', async () => {
    expect((await box.cmo(['limits', '--line', '--refresh'])).code).toBe(2);
  });
});

describe('cmo guard', () => {
  test('says by its exit code whether there is room, and asks first where nothing is known', async () => {
    const first = await box.cmo(['guard']);
    expect(first).toMatchObject({ code: 0, stdout: '', stderr: 'claude is at 27%, below 85%\n' });
    expect(door.calls).toHaveLength(1);
    expect(await box.cmo(['guard', '--lane', 'claude', '--below', '20'])).toMatchObject({
      code: 3,
      stderr: 'claude is at 27%, not below 20%\n',
    });
    expect(await box.ask(['guard', '--lane', 'claude'])).toMatchObject({
      ok: true,
      data: { safe: true, lane: 'claude', percent: 27, below: 85 },
    });
    expect(await box.cmo(['guard', '--lane', 'codex'])).toMatchObject({
      code: 3,
      stderr: 'what is left on codex is not known\n',
    });
    const wrong = await box.cmo(['guard', '--lane', 'cladue']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('nearest: claude');
    await waitUntil(() => door.calls.length === 1);
  });
});
