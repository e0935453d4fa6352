import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { errorBody } from '#contract';
import { clearStartupError, writeStartupError } from '#daemon/startup-error';
import { freshBox, type Box } from './support/run-cli.js';

const STAND_INS = new URL('../../fixtures/bin', import.meta.url).pathname;
type Row = { id: string; status: string; seen: string; fix: string | null };

async function doctor(
  box: Box,
  only: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; rows: Row[] }> {
  const { code, stdout, stderr } = await box.cmo(['doctor', '--json', '--only', only], {
    env: { PATH: `${STAND_INS}:${box.env['PATH'] ?? ''}`, ...env },
  });
  expect(stderr).toBe('');
  return { code, rows: (JSON.parse(stdout) as { data: { rows: Row[] } }).data.rows };
}

function configure(box: Box, config: object): void {
  mkdirSync(dirname(box.configFile), { recursive: true });
  writeFileSync(box.configFile, JSON.stringify(config), { mode: 0o600 });
}

function program(box: Box, name: string, script: string): string {
  const folder = join(box.folder, 'programs');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

test('a box with everything passes, spends nothing and is left as it was', async () => {
  const box = await freshBox();
  const { code, rows } = await doctor(box, 'node,state,config,redis,daemon,cli,login,endpoint,settings');
  expect(code).toBe(0);
  expect(rows.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'node ok',
    'state ok',
    'config ok',
    'redis ok',
    'daemon skipped',
    'cli:codex ok',
    'cli:claude ok',
    'login:codex ok',
    'login:claude ok',
    'settings:codex ok',
    'settings:claude ok',
  ]);
  expect(existsSync(box.state)).toBe(false);
});

test('for people each row has its word, and what to type', async () => {
  const box = await freshBox();
  const { code, stdout } = await box.cmo(['doctor', '--only', 'cli,login'], { env: { PATH: '/nowhere' } });
  expect(code).toBe(1);
  expect(stdout).toBe(`fail     cli:codex        codex is not on PATH, nor is any other lane's program
                          fix: npm install -g @openai/codex, then \`codex\` once to log in
fail     cli:claude       claude is not on PATH, nor is any other lane's program
                          fix: npm install -g @anthropic-ai/claude-code@latest, then \`claude\` once to log in
skipped  login:codex      its program is not installed
skipped  login:claude     its program is not installed
2 to fix
`);
});

test('a Redis of one’s own is knocked at: what does not open fails, and its password is shown nowhere', async () => {
  const box = await freshBox();
  const server = createServer().listen(join(box.folder, 'redis.sock'));
  expect((await doctor(box, 'redis', { CMO_REDIS_URL: `unix:${join(box.folder, 'redis.sock')}` })).rows).toMatchObject([
    { id: 'redis', status: 'ok' },
  ]);
  server.close();
  const { code, rows } = await doctor(box, 'redis', { CMO_REDIS_URL: 'redis://me:hidden-word@127.0.0.1:1' });
  expect([code, rows]).toMatchObject([
    1,
    [
      {
        status: 'fail',
        seen: expect.stringContaining('ECONNREFUSED') as string,
        fix: expect.stringContaining('CMO_REDIS_URL') as string,
      },
    ],
  ]);
  expect(JSON.stringify(rows)).not.toContain('hidden-word');
  expect(
    (await doctor(box, 'redis', { CMO_REDIS_URL: 'redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster' })).rows[0]
      ?.status,
  ).toBe('fail');
});

test("the reason why the daemon's last start failed is shown until one runs", async () => {
  const box = await freshBox();
  mkdirSync(box.state, { recursive: true, mode: 0o700 });
  writeStartupError(
    box.state,
    errorBody('CMO_E_DAEMON', 'the daemon could not be started', { details: ['ENOTDIR of something'] }),
  );
  const [row] = (await doctor(box, 'daemon')).rows;
  expect(row).toMatchObject({
    id: 'daemon',
    status: 'warn',
    seen: expect.stringContaining('ENOTDIR of something') as string,
    fix: expect.stringMatching(/daemon\.log; `cmo up` tries again$/) as string,
  });
  // That sentence sends people to where they are.
  expect(row?.fix).not.toContain('cmo doctor');
  clearStartupError(box.state);
  expect((await doctor(box, 'daemon')).rows[0]?.status).toBe('skipped');
});

test('run folders that were set aside are shown', async () => {
  const box = await freshBox();
  mkdirSync(join(box.state, 'runs', 'broken', 'd-01JE0000000000000000000000.1-aaaaaaaa'), {
    recursive: true,
    mode: 0o700,
  });
  const { code, rows } = await doctor(box, 'state');
  expect([code, rows[1]]).toMatchObject([
    0,
    { id: 'state:broken', status: 'warn', seen: expect.stringMatching(/broken: 1$/) as string },
  ]);
});

test('a state folder that could not be created fails the check', async () => {
  const box = await freshBox();
  writeFileSync(join(box.folder, 'a-file'), '');
  const { code, rows } = await doctor(box, 'state', { CMO_STATE_DIR: join(box.folder, 'a-file', 'a', 'state') });
  expect([code, rows[0]]).toMatchObject([
    1,
    { status: 'fail', seen: expect.stringMatching(/cannot create|can't be read/) as string },
  ]);
});

test('one missing program is a warning while another lane has one', async () => {
  const box = await freshBox();
  const folder = program(box, 'codex', 'echo codex-cli 0.171.0');
  const { code, rows } = await doctor(box, 'cli', { PATH: folder });
  expect([code, rows.map(({ status }) => status)]).toEqual([0, ['ok', 'warn']]);
});

test('redis-server is looked for, and its absence says how to get it', async () => {
  const box = await freshBox();
  const { code, rows } = await doctor(box, 'redis', { PATH: '/nowhere' });
  expect([code, rows[0]]).toMatchObject([
    1,
    { status: 'fail', fix: expect.stringContaining('apt-get install redis-server') as string },
  ]);
});

test('a claude without quota numbers, and a program that is there twice, are warned of', async () => {
  const box = await freshBox();
  const folder = program(box, 'claude', 'echo "2.1.197 (Claude Code)"');
  const { rows } = await doctor(box, 'cli', { PATH: `${folder}:${STAND_INS}:/usr/bin:/bin` });
  expect(rows).toMatchObject([
    { id: 'cli:codex', status: 'ok' },
    { id: 'cli:claude', status: 'warn', seen: expect.stringContaining('2.1.197 reports no quota numbers') as string },
    { id: 'cli:claude', status: 'warn', seen: expect.stringContaining('on PATH twice') as string },
  ]);
});

test('a login that is missing, or that bills an API account, is found without spending', async () => {
  const box = await freshBox();
  configure(box, {
    lanes: { codex: { env: { CMO_TEST_LOGGED_OUT: '1' } }, claude: { env: { CMO_TEST_LOGGED_OUT: '1' } } },
  });
  expect(await doctor(box, 'login')).toMatchObject({
    code: 1,
    rows: [
      { status: 'fail', fix: 'run `codex login`' },
      { status: 'fail', seen: 'claude is not logged in' },
    ],
  });
  configure(box, {});
  program(box, 'codex', 'echo "Logged in using an API key - sk-canary"');
  const folder = program(box, 'claude', `echo '{"loggedIn":true,"authMethod":"api_key"}'`);
  const billed = await doctor(box, 'login', { PATH: `${folder}:/usr/bin:/bin` });
  expect([billed.code, billed.rows.map(({ status }) => status)]).toEqual([0, ['warn', 'warn']]);
  expect(JSON.stringify(billed)).not.toContain('canary');
});

test('the programs are asked in the environment that a run would have', async () => {
  const box = await freshBox();
  program(box, 'codex', 'echo "Logged in ${OPENAI_API_KEY:-clean} ${CMO_ATTEMPT:-unmarked} $LC_ALL"');
  const folder = program(box, 'claude', 'exit 1');
  const { rows } = await doctor(box, 'login', {
    PATH: `${folder}:/usr/bin:/bin`,
    OPENAI_API_KEY: 'canary',
    CMO_ATTEMPT: 'd-01JE0000000000000000000000.1',
  });
  expect(rows[0]?.seen).toBe('Logged in clean unmarked C.UTF-8');
});

test('an endpoint elsewhere is shown by its host, and must be allowed', async () => {
  const box = await freshBox();
  configure(box, {
    lanes: {
      codex: { env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1?k=canary' } },
      claude: { env: { ANTHROPIC_BASE_URL: 'https://llm.example.org/canary' } },
    },
  });
  const { code, rows } = await doctor(box, 'endpoint,login');
  expect(code).toBe(1);
  expect(rows.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'login:codex skipped',
    'login:claude skipped',
    'endpoint:codex warn',
    'endpoint:claude fail',
  ]);
  expect(rows[3]?.seen).toContain('llm.example.org');
  expect(JSON.stringify(rows)).not.toContain('canary');
});

test("what the CLIs' own settings files set beyond the allow-list is named", async () => {
  const box = await freshBox();
  mkdirSync(join(box.folder, '.claude'));
  mkdirSync(join(box.folder, '.codex'));
  writeFileSync(
    join(box.folder, '.claude', 'settings.json'),
    '{"apiKeyHelper": "canary", "env": {"ANTHROPIC_AUTH_TOKEN": "canary", "EDITOR": "vi"}}',
  );
  writeFileSync(
    join(box.folder, '.codex', 'config.toml'),
    'model = "x"\n# base_url = "commented"\nmodel_provider = "azure"\n[model_providers.azure]\nbase_url = "https://canary"\n',
  );
  const { code, rows } = await doctor(box, 'settings');
  expect(code).toBe(0);
  expect(rows.map(({ seen }) => seen.replaceAll(box.folder, '~'))).toEqual([
    '~/.codex/config.toml sets model_provider (line 3), a base URL (line 5): codex may bill another account or talk to another endpoint',
    '~/.claude/settings.json sets apiKeyHelper: claude would bill that key, and cmo refuses such a run',
    '~/.claude/settings.json sets ANTHROPIC_AUTH_TOKEN: claude would bill another account or talk to another endpoint',
  ]);
});

test('a disk under the floor fails, since nothing more would be taken', async () => {
  const box = await freshBox();
  configure(box, { disk: { floorMb: 10_000_000 } });
  expect(await doctor(box, 'state')).toMatchObject({
    code: 1,
    rows: [
      { id: 'state' },
      {
        id: 'state:disk',
        status: 'fail',
        seen: expect.stringContaining('under 10000000 MB (disk.floorMb) no more tasks are taken') as string,
      },
    ],
  });
});

test('a state folder that others can enter, or that a link leads to, fails', async () => {
  const box = await freshBox();
  mkdirSync(box.state);
  chmodSync(box.state, 0o755);
  expect(await doctor(box, 'state')).toMatchObject({
    code: 1,
    rows: [{ id: 'state', status: 'fail', fix: `chmod 700 '${box.state}'` }],
  });
  symlinkSync(box.state, join(box.folder, 'link'));
  expect((await doctor(box, 'state', { CMO_STATE_DIR: join(box.folder, 'link') })).rows[0]?.seen).toContain(
    'symbolic link',
  );
});

test('a configuration with secrets that others can read is warned of; a passed variable that bills elsewhere fails', async () => {
  const box = await freshBox();
  configure(box, { redisUrl: 'redis://:canary@localhost' });
  chmodSync(box.configFile, 0o644);
  expect((await doctor(box, 'config')).rows).toMatchObject([{ status: 'warn', fix: `chmod 600 '${box.configFile}'` }]);
  configure(box, { lanes: { codex: { passEnv: ['OPENAI_API_KEY'] } } });
  const { rows } = await doctor(box, 'config', { CMO_PREFFER: 'x' });
  expect(rows.map(({ status, seen }) => `${status} ${seen}`)).toEqual([
    expect.stringMatching(/^warn CMO_PREFFER: .*nearest: CMO_PREFER$/),
    'fail lanes.codex.passEnv names OPENAI_API_KEY, which would bill another account: only lanes.codex.env may set it',
  ]);
});
