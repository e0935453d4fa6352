import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeEach, describe, expect, test } from 'vitest';
import type { LaneConfig } from '#contract';
import { readLoginFile } from '#worker/prober/login';
import { repairTurn } from '#worker/prober/repair-turn';
import { repairLogin, type Repair } from '#worker/prober/token-repair';
import { laneOf, testConfig } from '../../../support/records.js';
import { tempFolder } from '../../../support/temp.js';
import { writeLogin } from './login-file.js';

const BIN = new URL('../../../fixtures/bin', import.meta.url).pathname;
const PATH = `${BIN}:${process.env['PATH'] ?? ''}`;

let folder: string;
let login: string;
let renewals: string;
beforeEach(() => {
  folder = tempFolder('repair');
  login = join(folder, 'claude-home', '.credentials.json');
  renewals = join(folder, 'renewals');
});

const lane = (change: Partial<LaneConfig> = {}): LaneConfig => ({
  ...laneOf(testConfig(), 'claude'),
  command: 'claude-with-a-single-use-token',
  env: {
    CLAUDE_CONFIG_DIR: join(folder, 'claude-home'),
    CMO_TEST_RENEWALS: renewals,
    CMO_TEST_LEDGER: join(folder, 'ledger'),
  },
  ...change,
});
const renewed = (): string[] =>
  existsSync(renewals)
    ? readFileSync(renewals, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
const turnOf = (of: LaneConfig) => () =>
  repairTurn(of, { PATH, HOME: folder, ANTHROPIC_API_KEY: 'canary', CLAUDE_CODE_OAUTH_TOKEN: 'canary' }, login);
async function stampOf(): Promise<string> {
  const now = await readLoginFile(login);
  return 'stamp' in now ? now.stamp : '';
}
const repair = async (of: LaneConfig, more: Partial<Parameters<typeof repairLogin>[2]> = {}): Promise<Repair> =>
  repairLogin(login, await stampOf(), { clock: Date.now, turn: turnOf(of), ...more });

describe('a lapsed login', () => {
  test('is renewed by 24 processes at once with one turn of the CLI: the second use of a token would log everybody out', async () => {
    writeLogin(login, { inMs: -1_000 });
    const script = join(folder, 'repairer.mjs');
    await build({
      entryPoints: [new URL('./repairer.ts', import.meta.url).pathname],
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      conditions: ['cmo-source'],
      loader: { '.sh': 'text', '.lua': 'text' },
      logLevel: 'silent',
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    writeFileSync(join(folder, 'lane.json'), JSON.stringify(lane()));
    const stamp = await stampOf();
    const start = Date.now() + 4_000;
    const came = await Promise.all(
      Array.from({ length: 24 }, () => childOf(script, [login, stamp, join(folder, 'lane.json'), String(start)])),
    );
    expect(came).toEqual(Array<Repair>(24).fill({ kind: 'renewed' }));
    expect(renewed()).toHaveLength(1);
    expect(await readLoginFile(login)).toMatchObject({ kind: 'file' });
    expect(existsSync(join(folder, 'claude-home', 'cmo-repair.lock'))).toBe(false);
  });

  test('logs the machine out when two agents renew it side by side: what the lock is for', async () => {
    writeLogin(login, { inMs: -1_000 });
    const together = lane({ env: { ...lane().env, CMO_TEST_TOGETHER: '2' } });
    const without = async () => turnOf(together)();
    const both = await Promise.all([without(), without()]);
    expect(both.map((turn) => turn.ran && turn.ok).sort()).toEqual([false, true]);
    expect(
      renewed()
        .map((line) => line.split(' ')[0])
        .sort(),
    ).toEqual(['logout', 'renewed']);
    expect(await readLoginFile(login)).toMatchObject({ kind: 'blank' });
  });

  test('is never written by us: who may not write it is not asked to', async () => {
    writeLogin(login, { inMs: -1_000 });
    const before = readFileSync(login, 'utf8');
    expect(await repair(lane({ command: 'claude' }))).toEqual({ kind: 'unrenewed' });
    expect(readFileSync(login, 'utf8')).toBe(before);
    expect(statSync(login).mode & 0o777).toBe(0o600);
  });

  test('is renewed by a turn without tools, session, servers or anything of the shell that could bill elsewhere', async () => {
    writeLogin(login, { inMs: -1_000 });
    const spy = join(folder, 'spy');
    writeFileSync(
      spy,
      `#!/bin/sh\nfor word in "$@"; do printf '<%s>' "$word"; done >${folder}/argv\nenv >${folder}/env\npwd >${folder}/cwd\nls -A >${folder}/listing\ncat >${folder}/stdin\n`,
    );
    chmodSync(spy, 0o755);
    await repair(lane({ command: spy }));
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8').trim();
    expect(read('argv')).toBe(
      '<-p><--output-format><stream-json><--verbose><--model><haiku><--system-prompt><Answer with the one word ok.><--disable-slash-commands><--no-session-persistence><--tools><><--strict-mcp-config>',
    );
    expect(read('stdin')).toBe('ok');
    expect(read('listing')).toBe('');
    expect(existsSync(read('cwd'))).toBe(false);
    expect(read('env')).not.toContain('canary');
    expect(read('env')).toContain(`CLAUDE_CONFIG_DIR=${join(folder, 'claude-home')}`);
  });

  test('that the CLI cannot renew says why, and no second turn is made within the minute', async () => {
    writeLogin(login, { inMs: -1_000 });
    let turns = 0;
    const counted = async () => {
      turns += 1;
      return turnOf(lane({ command: 'no-such-claude' }))();
    };
    const first = await repair(lane(), { turn: counted, leastMs: 600 });
    expect(first).toEqual({ kind: 'failed', why: "no-such-claude is not on the daemon's PATH" });
    expect(await repair(lane(), { turn: counted, leastMs: 600, patienceMs: 100 })).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('too long') as string,
    });
    expect(turns).toBe(1);
    await repair(lane(), { turn: counted, leastMs: 600, patienceMs: 5_000 });
    expect(turns).toBe(2);
  });

  test('whose turn fails says in which words', async () => {
    writeLogin(login, { inMs: -1_000 });
    mkdirSync(join(folder, 'claude-home', 'used-sk-ant-ort01-dummy-1'));
    expect(await repair(lane())).toMatchObject({ kind: 'failed', why: expect.stringContaining('auth') as string });
  });

  test('in a folder that cannot be written to cannot be renewed by any CLI, and says so', async () => {
    expect(
      await repairLogin(join(folder, 'nowhere', '.credentials.json'), 's', { clock: Date.now, turn: turnOf(lane()) }),
    ).toMatchObject({ kind: 'failed', why: expect.stringContaining('cannot be written') as string });
  });

  test('that was renewed meanwhile needs no turn', async () => {
    writeLogin(login, { inMs: -1_000 });
    const stamp = await stampOf();
    writeLogin(login, { accessToken: 'sk-ant-oat01-by-an-agent' });
    const never = () => Promise.reject(new Error('a turn was made'));
    expect(await repairLogin(login, stamp, { clock: Date.now, turn: never })).toEqual({ kind: 'renewed' });
  });
});

function childOf(script: string, args: string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      env: { PATH, HOME: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', reject);
    child.once('close', () => {
      try {
        resolve(JSON.parse(said) as unknown);
      } catch (error) {
        reject(error as Error);
      }
    });
  });
}
