import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { loginKeeper, type KeeperParts } from '#worker/prober/login-keeper';
import { laneOf, testConfig } from '../../../support/records.js';
import { tempFolder } from '../../../support/temp.js';
import { waitUntil } from '../../../support/wait-until.js';
import { writeLogin } from './login-file.js';

let folder: string;
let login: string;
let told: string[];
beforeEach(() => {
  folder = join(tempFolder('keeper'), 'home');
  mkdirSync(folder);
  login = join(folder, '.credentials.json');
  told = [];
});

const config = testConfig();
const claude = () => ({ ...laneOf(config, 'claude'), env: { CLAUDE_CONFIG_DIR: folder } });

function keeper(more: Partial<KeeperParts> = {}) {
  const log = { info() {}, error() {}, warn: (_: object, message: string) => void told.push(message) };
  const parts: KeeperParts = {
    config,
    environment: {},
    clock: Date.now,
    log,
    submitted: () => Promise.resolve(null),
    wanted: () => Promise.resolve(true),
    changed() {},
    events() {},
    turn: () => Promise.resolve({ ran: false, why: 'there is no claude' }),
    lookMs: 0,
    ...more,
  };
  return loginKeeper(parts);
}
/** A turn that renews, once it is let. */
function slowTurn() {
  let turns = 0;
  let let_: () => void = () => undefined;
  const allowed = new Promise<void>((resolve) => (let_ = resolve));
  const turn: KeeperParts['turn'] = async () => {
    turns += 1;
    await allowed;
    writeLogin(login, { accessToken: 'next' });
    return { ran: true, ok: true, why: '', events: [{ status: 'allowed' }] };
  };
  return { turn, allow: () => let_(), count: () => turns };
}

describe('the keeper of a login', () => {
  test('holds every start while one turn renews it, lets them go after, and hands on the reading that the turn brought', async () => {
    writeLogin(login, { inMs: 60_000 });
    const { turn, allow, count } = slowTurn();
    const events: unknown[] = [];
    let changes = 0;
    const kept = keeper({ turn, changed: () => (changes += 1), events: (_, seen) => void events.push(...seen) });
    const holds = await Promise.all(Array.from({ length: 20 }, () => kept.hold(claude())));
    expect(new Set(holds.map((hold) => hold?.shut))).toEqual(new Set([false]));
    allow();
    await kept.settled();
    expect(await kept.hold(claude())).toBeNull();
    expect(count()).toBe(1);
    expect(changes).toBeGreaterThanOrEqual(2);
    expect(events).toEqual([{ status: 'allowed' }]);
    expect(told).toEqual([]);
  });

  test('renews nothing while nothing waits or runs, unless a person asks', async () => {
    writeLogin(login, { inMs: -1 });
    const { turn, allow, count } = slowTurn();
    allow();
    const kept = keeper({ turn, wanted: () => Promise.resolve(false) });
    await kept.hold(claude());
    expect(count()).toBe(0);
    await kept.hold(claude(), true);
    await kept.settled();
    expect(count()).toBe(1);
  });

  test('tells of a login that cannot be renewed once, and starts again when its file changes', async () => {
    writeLogin(login, { inMs: -1 });
    const kept = keeper({ leastMs: 0 });
    await kept.hold(claude());
    await kept.settled();
    for (let i = 0; i < 5; i++)
      expect(await kept.hold(claude())).toMatchObject({
        shut: true,
        why: expect.stringContaining('there is no claude') as string,
      });
    expect(told).toHaveLength(1);
    writeLogin(login);
    expect(await kept.hold(claude())).toBeNull();
  });

  test('asks a vendor whose tokens live for minutes no more than once a minute', async () => {
    writeLogin(login, { inMs: -1 });
    let turns = 0;
    const turn: KeeperParts['turn'] = () => {
      turns += 1;
      writeLogin(login, { accessToken: `short-${turns}`, inMs: 30_000 });
      return Promise.resolve({ ran: true, ok: true, why: '', events: [] });
    };
    const kept = keeper({ turn });
    for (let i = 0; i < 5; i++) {
      await kept.hold(claude());
      await kept.settled();
    }
    expect(turns).toBe(1);
    expect(await kept.hold(claude())).toBeNull();
  });

  test('lets agents start that bring a token of their own, whatever the file says', async () => {
    writeFileSync(login, JSON.stringify({ claudeAiOauth: { accessToken: '', expiresAt: 0 } }));
    const kept = keeper({ submitted: () => Promise.resolve({ CLAUDE_CODE_OAUTH_TOKEN: 'setup-token' }) });
    expect(await kept.hold(claude())).toBeNull();
    expect(await keeper().hold(claude())).toMatchObject({ shut: true });
  });

  test('has no say about codex, and none where no login lies', async () => {
    expect(await keeper().hold(laneOf(config, 'codex'))).toBeNull();
    expect(await keeper().hold(claude())).toBeNull();
    expect(await keeper({ config: { ...config, claudeCredentials: null } }).hold(laneOf(config, 'claude'))).toBeNull();
  });

  test('never says what the tokens are', async () => {
    writeLogin(login, { accessToken: 'canary-access', refreshToken: 'canary-refresh', inMs: -1 });
    const said: string[] = [];
    const hear = (fields: object, message: string): void => void said.push(JSON.stringify(fields) + message);
    const kept = keeper({ log: { info: hear, warn: hear, error: hear }, leastMs: 0 });
    await kept.hold(claude());
    await waitUntil(async () => (await kept.hold(claude()))?.shut);
    expect(said.join()).not.toContain('canary');
    expect(JSON.stringify(await kept.hold(claude()))).not.toContain('canary');
    expect(readFileSync(login, 'utf8')).toContain('canary');
  });
});
