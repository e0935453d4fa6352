import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { codexRoots } from '#worker/prober/codex-probe';
import { loginPath } from '#worker/prober/login';
import { openBox, type Box } from '../../../support/box.js';
import { laneOf, testConfig } from '../../../support/records.js';
import { tempFolder } from '../../../support/temp.js';
import { writeLogin } from './login-file.js';
import { openDoor, type UsageDoor } from './usage-door.js';

let box: Box | undefined;
let door: UsageDoor | undefined;
afterEach(async () => {
  await box?.close();
  await door?.close();
});

const line = (usedPercent: number): string =>
  `${JSON.stringify({ timestamp: new Date().toISOString(), type: 'event_msg', payload: { type: 'token_count', info: null, rate_limits: { limit_id: 'codex', primary: { used_percent: usedPercent, window_minutes: 300, resets_at: Math.floor(Date.now() / 1000) + 9000 } } } })}\n`;

test('several accounts of a vendor are each read with their own login and their own files', async () => {
  door = await openDoor();
  const folder = tempFolder('accounts');
  const home = (name: string): string => join(folder, name);
  const [codex, claude] = [laneOf(testConfig(), 'codex'), laneOf(testConfig(), 'claude')];
  const usageUrl = `${door.url}/api/oauth/usage`;
  const lanes = [
    { ...codex, env: { CODEX_HOME: home('codex-1') } },
    { ...codex, id: 'codex-2', account: 'codex-2', env: { CODEX_HOME: home('codex-2') } },
    { ...claude, usageUrl, env: { CLAUDE_CONFIG_DIR: home('claude-1') } },
    { ...claude, usageUrl, id: 'claude-2', account: 'claude-2', env: { CLAUDE_CONFIG_DIR: home('claude-2') } },
  ];
  for (const [name, used] of [
    ['codex-1', 11],
    ['codex-2', 22],
  ] as const) {
    const day = join(home(name), 'sessions/2026/11/20');
    mkdirSync(day, { recursive: true });
    writeFileSync(join(day, 'rollout-2026-11-20T03-00-00-a.jsonl'), line(used));
  }
  for (const name of ['claude-1', 'claude-2'])
    writeLogin(join(home(name), '.credentials.json'), { accessToken: `token-of-${name}` });
  box = await openBox({ lanes });
  const worker = await box.start();
  const { accounts } = await worker.meters.refresh();
  expect(
    accounts.map(({ account, windows }) => [account, windows.find(({ id }) => id === 'five_hour')?.usedPercent]),
  ).toEqual([
    ['codex', 11],
    ['codex-2', 22],
    ['claude', 3],
    ['claude-2', 3],
  ]);
  expect(door.calls.map(({ authorization }) => authorization).sort()).toEqual([
    'Bearer token-of-claude-1',
    'Bearer token-of-claude-2',
  ]);
});

describe("where an account's files lie", () => {
  test("the lane's own word outranks the configuration, and that the run's", () => {
    expect(
      codexRoots({ env: { CODEX_HOME: '/own' } }, { codexSessionsRoot: '/set/sessions' }, { CODEX_HOME: '/ran' }),
    ).toEqual(['/own/sessions', '/own/archived_sessions']);
    expect(codexRoots({ env: {} }, { codexSessionsRoot: '/set/sessions' }, { HOME: '/home/me' })).toEqual([
      '/set/sessions',
      '/set/archived_sessions',
      '/home/me/.codex/sessions',
      '/home/me/.codex/archived_sessions',
    ]);
    expect(codexRoots({ env: {} }, { codexSessionsRoot: null })).toEqual([]);
  });

  test('and so it is with a login; without any word none is guessed', () => {
    expect(loginPath({ env: { CLAUDE_CONFIG_DIR: '/own' } }, { claudeCredentials: '/set' })).toBe(
      '/own/.credentials.json',
    );
    expect(loginPath({ env: { HOME: '/moved' } }, { claudeCredentials: '/set' })).toBe(
      '/moved/.claude/.credentials.json',
    );
    expect(loginPath({ env: {} }, { claudeCredentials: '/set' })).toBe('/set');
    expect(loginPath({ env: {} }, { claudeCredentials: null })).toBeNull();
  });
});
