import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Answer, ServiceData } from '#contract';
import { serviceSchema } from '#contract/schemas/service';
import { openCmo, type Cmo } from '../../../support/cmo.js';
import { serviceTools, type ServiceTools } from '../../../support/service-tools.js';
import { unitOf } from '../../../support/unit.js';
import { waitUntil } from '../../../support/wait-until.js';

const PROGRAM = new URL('../../../../dist/daemon.mjs', import.meta.url).pathname;
let box: Cmo;
let tools: ServiceTools;
let unit: string;
let script: string;
beforeEach(() => {
  box = openCmo();
  tools = serviceTools(join(box.folder, 'bin'), join(box.folder, 'tools'));
  tools.set('linger', true);
  unit = join(box.folder, 'home/.config/systemd/user/cmo.service');
  script = join(box.folder, 'config/service.sh');
});
afterEach(() => box.close());

async function service(...args: string[]): Promise<ServiceData> {
  const answer = await box.ask<Answer<ServiceData>>(['service', ...args]);
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  expect(serviceSchema.safeParse(answer.data)).toMatchObject({ success: true });
  return answer.data;
}

async function refused(...args: string[]): Promise<{ code: string; message: string; details?: string[]; fix: string }> {
  const { code, stdout } = await box.cmo(['service', ...args, '--json']);
  const answer = JSON.parse(stdout) as Answer<ServiceData>;
  if (answer.ok) throw new Error(`it was not refused: ${stdout}`);
  expect(code).toBe(answer.error.code === 'CMO_E_SERVICE' ? 1 : 2);
  return answer.error;
}

async function rebootRows(): Promise<{ status: string; seen: string; fix: string | null }[]> {
  const { stdout } = await box.cmo(['doctor', '--json', '--only', 'reboot']);
  return (JSON.parse(stdout) as { data: { rows: { status: string; seen: string; fix: string | null }[] } }).data.rows;
}

const changes = (): string[] =>
  tools.calls().filter((call) => !/ (show|is-enabled|is-active|show-user|-l)\b/.test(call));

test('installed by systemd: the unit names this program, node and state folder, is enabled and started, and all is well', async () => {
  expect(await service('status')).toMatchObject({
    service: { kind: null, problems: [{ what: 'no service is installed', fix: '`cmo service install`' }] },
    files: [],
    commands: [],
  });
  const data = await service('install');
  expect(data).toMatchObject({
    did: 'install',
    dryRun: false,
    files: [{ path: unit }],
    commands: ['systemctl --user daemon-reload', 'systemctl --user enable --now cmo.service'],
    notes: [],
  });
  expect(data.service).toEqual({
    kind: 'systemd',
    file: unit,
    node: process.execPath,
    program: PROGRAM,
    state: box.stateDir,
    enabled: true,
    running: true,
    linger: true,
    problems: [],
  });
  expect(changes()).toEqual(data.commands);
  const { command, environment } = unitOf(readFileSync(unit, 'utf8'));
  expect([command[0], command.slice(-4)]).toEqual([process.execPath, [PROGRAM, '--state', box.stateDir, '--service']]);
  expect(environment).toMatchObject({
    PATH: [...new Set(box.env['PATH']?.split(':'))].join(':'),
    HOME: box.env['HOME'],
    CMO_STATE_DIR: box.stateDir,
    CMO_CONFIG_DIR: box.env['CMO_CONFIG_DIR'],
  });
  expect(await rebootRows()).toMatchObject([
    { status: 'ok', seen: `queued work goes on by itself after a reboot: systemd, ${unit}` },
  ]);
});

test('installed again it changes nothing; from a shell with another PATH it is brought up to date and restarted', async () => {
  await service('install');
  const text = readFileSync(unit, 'utf8');
  tools.forget();
  expect((await service('install')).files).toEqual([]);
  expect(changes()).toEqual(['systemctl --user daemon-reload', 'systemctl --user enable --now cmo.service']);
  expect(readFileSync(unit, 'utf8')).toBe(text);
  tools.forget();
  await box.cmo(['service', 'install'], { env: { PATH: `${box.env['PATH'] ?? ''}:/opt/new/bin` } });
  expect(changes().at(-1)).toBe('systemctl --user restart cmo.service');
  expect(unitOf(readFileSync(unit, 'utf8')).environment['PATH']).toContain('/opt/new/bin');
});

test('uninstalled it is gone, and nothing else is', async () => {
  mkdirSync(dirname(unit), { recursive: true });
  const other = join(dirname(unit), 'other.service');
  writeFileSync(other, '[Unit]');
  tools.setTable('0 1 * * * backup\n');
  await service('install');
  tools.forget();
  const data = await service('uninstall');
  expect(data).toMatchObject({ files: [{ path: unit, text: null }], service: { kind: null } });
  expect(changes()).toEqual(['systemctl --user disable --now cmo.service', 'systemctl --user daemon-reload']);
  expect([existsSync(unit), existsSync(other), tools.table()?.toString()]).toEqual([false, true, '0 1 * * * backup\n']);
  tools.forget();
  expect(await service('uninstall')).toMatchObject({ files: [], commands: [] });
  expect(changes()).toEqual([]);
});

test('a unit of that name that is none of ours is neither replaced nor removed', async () => {
  mkdirSync(dirname(unit), { recursive: true });
  writeFileSync(unit, '[Service]\nExecStart=/bin/true\n');
  expect(await refused('install')).toMatchObject({
    code: 'CMO_E_SERVICE',
    message: `${unit} is there and is none of ours`,
  });
  expect(await service('status')).toMatchObject({
    service: { kind: 'systemd', program: null, problems: [{ what: `${unit} is there and is none of ours` }] },
  });
  await service('uninstall');
  expect(readFileSync(unit, 'utf8')).toBe('[Service]\nExecStart=/bin/true\n');
  expect(changes()).toEqual([]);
});

test('without linger it says what that costs and what to type, and never types it', async () => {
  tools.set('linger', false);
  const data = await service('install');
  const { username } = userInfo();
  expect(data.service).toMatchObject({
    linger: false,
    problems: [
      {
        what: expect.stringContaining('last logout, agents too') as string,
        fix: `\`loginctl enable-linger ${username}\``,
      },
    ],
  });
  expect(tools.calls().join('\n')).not.toContain('enable-linger');
  expect(await rebootRows()).toMatchObject([{ status: 'warn', fix: `\`loginctl enable-linger ${username}\`` }]);
  const { stdout } = await box.cmo(['service', 'status']);
  expect(stdout).toContain('linger   off');
  expect(stdout).toContain(`\`loginctl enable-linger ${username}\``);
});

test.each([
  [
    'a program that is gone',
    (text: string) => text.replaceAll(PROGRAM, '/gone/daemon.mjs'),
    '/gone/daemon.mjs, which is gone',
  ],
  [
    'another program',
    (text: string) => text.replaceAll(PROGRAM, PROGRAM.replace('daemon.mjs', 'supervisor.mjs')),
    'supervisor.mjs; this is',
  ],
  [
    'a node that is gone',
    (text: string) => text.replace(`ExecStart="${process.execPath}"`, 'ExecStart="/gone/node"'),
    '/gone/node, which is gone',
  ],
  ['another state folder', (text: string) => text.replaceAll(box.stateDir, '/other'), 'for the state folder /other'],
])('a unit that names %s is told of, with what to type', async (_what, change, seen) => {
  await service('install');
  writeFileSync(unit, change(readFileSync(unit, 'utf8')));
  expect((await service('status')).service.problems).toEqual([
    { what: expect.stringContaining(seen) as string, fix: expect.stringContaining('`cmo service install`') as string },
  ]);
  expect(await rebootRows()).toMatchObject([{ status: 'warn', seen: expect.stringContaining(seen) as string }]);
  expect((await service('install')).service.problems).toEqual([]);
});

test('a service that is not enabled is reported', async () => {
  await service('install');
  tools.set('enabled', false);
  expect((await service('status')).service).toMatchObject({
    enabled: false,
    problems: [{ what: 'it is not enabled' }],
  });
});

test('where systemd cannot be reached it says so and takes cron; the table is kept to its last byte', async () => {
  tools.set('no-bus', true);
  const table = Buffer.from([...Buffer.from('# mine\nMAILTO=me\n'), 0xe9, 0xff, ...Buffer.from(' 1 * * * x % y')]);
  tools.setTable(table);
  const data = await service('install');
  expect(data.notes[0]).toBe(
    "not by systemd: your own manager can't be reached (Failed to connect to bus: No medium found)",
  );
  expect(data.service).toMatchObject({ kind: 'cron', file: script, enabled: true, program: PROGRAM, problems: [] });
  expect(statSync(script).mode & 0o777).toBe(0o700);
  const line = `@reboot /bin/sh '${script}' # cmo service\n`;
  expect(tools.table()).toEqual(Buffer.concat([table, Buffer.from(`\n${line}`)]));
  // It was started too, and so need not be started again.
  await waitUntil(async () => (await service('status')).service.running, { what: 'the daemon of the script' });
  const [pid] = box.daemonPids();
  tools.forget();
  expect(await service('install')).toMatchObject({ files: [], commands: [], service: { running: true } });
  expect(box.daemonPids()).toEqual([pid]);
  expect(await rebootRows()).toMatchObject([{ status: 'ok' }]);

  const gone = await service('uninstall');
  expect(gone.notes).toEqual([expect.stringContaining('has stopped') as string]);
  expect(tools.table()).toEqual(Buffer.concat([table, Buffer.from('\n')]));
  expect([existsSync(script), box.daemonPids(), box.redisPids()]).toEqual([false, [], []]);
});

test('when systemd can be reached later, the line of cron makes way for the unit', async () => {
  tools.set('no-bus', true);
  await service('install');
  await waitUntil(async () => (await service('status')).service.running, { what: 'the daemon of the script' });
  tools.set('no-bus', false);
  expect((await service('install')).service).toMatchObject({ kind: 'systemd' });
  expect([existsSync(script), tools.table()?.toString(), box.daemonPids()]).toEqual([false, '', []]);
});

test('a table of cron that cannot be read is not replaced', async () => {
  tools.setTable('0 1 * * * backup\n');
  tools.set('no-crontab', true);
  const error = await refused('install', '--by', 'cron');
  expect(error).toMatchObject({
    code: 'CMO_E_SERVICE',
    details: [expect.stringContaining('not allowed to use this program') as string],
  });
  expect(tools.table()?.toString()).toBe('0 1 * * * backup\n');
  expect(existsSync(script)).toBe(false);
});

test('where nothing can run it, the refusal has the command for whatever can, and so has doctor', async () => {
  tools.set('no-bus', true);
  tools.set('no-crontab', true);
  const command = `${process.execPath} --max-semi-space-size=4 ${PROGRAM} --state ${box.stateDir} --service`;
  expect((await refused('install')).fix).toContain(command);
  const [row] = await rebootRows();
  expect(row).toMatchObject({ status: 'warn', seen: expect.stringContaining('no service is installed') as string });
  expect(row?.fix).toContain(command);
});

test('a dry run shows the file and the commands, and changes nothing', async () => {
  const data = await service('install', '--dry-run');
  expect(data).toMatchObject({
    dryRun: true,
    service: { kind: null },
    files: [{ path: unit }],
    commands: ['systemctl --user daemon-reload', 'systemctl --user enable --now cmo.service'],
  });
  expect(unitOf(data.files[0]?.text ?? '').command).toContain(PROGRAM);
  const { stdout } = await box.cmo(['service', 'install', '--dry-run']);
  expect(stdout).toContain(`would write ${unit}:`);
  expect(stdout).toContain('    KillMode=process');
  expect(stdout).toContain('nothing was changed');
  expect([existsSync(unit), changes()]).toEqual([false, []]);
  await service('install');
  tools.forget();
  await service('uninstall', '--dry-run');
  expect([existsSync(unit), changes()]).toEqual([true, []]);
});

test('no key, token or password of the shell is in what it writes', async () => {
  const secrets = { OPENAI_API_KEY: 'canary-1', ANTHROPIC_API_KEY: 'canary-2', CLAUDE_CODE_OAUTH_TOKEN: 'canary-3' };
  const { code, stdout, stderr } = await box.cmo(['service', 'install'], { env: secrets });
  expect(code).toBe(0);
  expect(`${readFileSync(unit, 'utf8')}${stdout}${stderr}`).not.toContain('canary');
  rmSync(unit);
  const refusal = await box.cmo(['service', 'install', '--json'], {
    env: { CMO_REDIS_URL: 'redis://:canary@127.0.0.1:1' },
  });
  expect(refusal.code).toBe(1);
  expect(refusal.stdout).toContain('redisUrl');
  expect(`${refusal.stdout}${refusal.stderr}`).not.toContain('canary');
  expect(existsSync(unit)).toBe(false);
});

test('a step that fails is reported with the words of the program that failed', async () => {
  writeFileSync(
    join(box.folder, 'bin/systemctl'),
    "#!/bin/sh\ncase $2 in enable) echo 'Failed to enable unit: no space left' >&2; exit 1;; esac\n",
    { mode: 0o755 },
  );
  expect(await refused('install')).toMatchObject({
    code: 'CMO_E_SERVICE',
    message: '`systemctl --user enable --now cmo.service` failed: Failed to enable unit: no space left',
  });
});

test.each([
  [['enable'], 'nearest: '],
  [['status', '--by', 'cron'], '--by goes with'],
  [['status', '--dry-run'], 'changes nothing'],
  [['install', '--by', 'launchctl'], 'systemd, launchd, cron'],
])('cmo service %s is refused before anything is done', async (args, words) => {
  const { code, message } = await refused(...args).catch((error: unknown) => ({ code: String(error), message: '' }));
  expect(code).toMatch(/^CMO_E_(USAGE|UNKNOWN_VALUE)$/);
  if (words !== 'nearest: ') expect(message).toContain(words);
  expect(tools.calls()).toEqual([]);
});
