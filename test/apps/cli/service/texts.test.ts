import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_CONFIG } from '#contract';
import { CRON, hasLine, withLine, withoutLine } from '#cli/service/cron';
import { define, type Definition } from '#cli/service/definition';
import type { ServiceBox } from '#cli/service/box';
import { LAUNCHD } from '#cli/service/launchd';
import { lookAtService } from '#cli/service/look';
import { perform } from '#cli/service/perform';
import { choose, installPlan, uninstallPlan } from '#cli/service/plan';
import { SYSTEMD } from '#cli/service/systemd';
import { unitOf } from '../../../support/unit.js';
import { tempFolder } from '../../../support/temp.js';

const ODD = `/opt/a "b" 'c' 50% $HOME \\x <&> é`;
const COMMAND = [
  '/usr/bin/node',
  '--max-semi-space-size=4',
  `${ODD}/daemon.mjs`,
  '--state',
  `${ODD}/state`,
  '--service',
];
const definition: Definition = {
  command: COMMAND,
  program: `${ODD}/daemon.mjs`,
  environment: [
    ['PATH', `${ODD}/bin:/usr/bin`],
    ['CMO_NODE_ID', 'n 1'],
  ],
  state: `${ODD}/state`,
  words: '/tmp/words',
};
const NAMED = { node: '/usr/bin/node', program: `${ODD}/daemon.mjs`, state: `${ODD}/state` };

test('a unit carries any path and value, as systemd reads it', () => {
  const { command, environment, settings } = unitOf(SYSTEMD.text(definition));
  expect(command).toEqual(COMMAND);
  expect(environment).toEqual(Object.fromEntries(definition.environment));
  expect(settings['ConditionPathExists']?.replaceAll('%%', '%')).toBe(`${ODD}/daemon.mjs`);
});

test('a unit ends nothing but the daemon, starts it again when it failed, and starts with the box', () => {
  const { settings } = unitOf(SYSTEMD.text(definition));
  expect(settings).toMatchObject({
    KillMode: 'process',
    OOMPolicy: 'continue',
    Restart: 'on-failure',
    RestartForceExitStatus: '75',
    SuccessExitStatus: '75',
    StartLimitIntervalSec: '0',
    WantedBy: 'default.target',
  });
});

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
test.skipIf(!analyze)('systemd itself finds nothing wrong with a unit of ours, odd paths and all', () => {
  const folder = tempFolder('unit');
  const verify = (text: string): string => {
    const file = join(folder, 'cmo.service');
    writeFileSync(file, text);
    const { stderr } = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
      env: { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder },
    });
    return stderr
      .toString()
      .split('\n')
      .filter((line) => line.includes('cmo.service'))
      .join('\n');
  };
  const text = SYSTEMD.text({ ...definition, command: [process.execPath, ...COMMAND.slice(1)] });
  expect(verify(text)).toBe('');
  expect(verify(text.replace('KillMode=process', 'KillMode=nonsense'))).toContain('kill mode');
});

test('a property list abandons its group, and escapes what XML would read', () => {
  const text = LAUNCHD.text(definition);
  expect(text).toMatch(/<key>AbandonProcessGroup<\/key>\s*<true\/>/);
  expect(text).toMatch(/<key>RunAtLoad<\/key>\s*<true\/>/);
  expect(text).toMatch(/<key>KeepAlive<\/key>\s*<dict>\s*<key>SuccessfulExit<\/key>\s*<false\/>/);
  expect(text).toContain('&lt;&amp;&gt;');
  expect(text.replaceAll(/<[^>]*>/g, '')).not.toMatch(/[<>]/);
});

test('the script of cron starts exactly the command in exactly the environment, again while it fails, and ends with it', () => {
  const folder = tempFolder('cron');
  const log = join(folder, "it's a log");
  const program = join(folder, "it's $(daemon).mjs");
  writeFileSync(
    program,
    `import { appendFileSync, readFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(log)}, JSON.stringify([process.argv.slice(2), process.env.PATH, process.env.CMO_NODE_ID]) + '\\n'); process.exit(readFileSync(${JSON.stringify(log)}, 'utf8').split('\\n').length > 2 ? 0 : 75);`,
  );
  const text = CRON.text({
    ...definition,
    command: [process.execPath, program, '--state', ODD, '--service'],
    program,
    environment: [
      ['PATH', `${ODD}:/usr/bin:/bin`],
      ['CMO_NODE_ID', ODD],
    ],
    words: join(folder, 'words'),
  });
  const script = join(folder, 'service.sh');
  writeFileSync(script, text);
  const { status } = spawnSync('/bin/sh', [script], { env: {}, timeout: 30_000 });
  expect(status).toBe(0);
  const lines = spawnSync('cat', [log])
    .stdout.toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toEqual([0, 1].map(() => [['--state', ODD, '--service'], `${ODD}:/usr/bin:/bin`, ODD]));
});

test.each([SYSTEMD, LAUNCHD, CRON])(
  'what a file of ours starts can be read back, and one that is not ours is not taken for it',
  (platform) => {
    const text = platform.text(definition);
    expect(platform.read(text)).toEqual(NAMED);
    expect(platform.read(text.replaceAll('cmo service install', 'something else'))).toBeNull();
    expect(platform.read('')).toBeNull();
  },
);

test('a table of cron is kept whole: our line goes in once and out again, and nothing else changes', () => {
  const line = fc.string({ unit: 'binary-ascii', maxLength: 30 }).map((text) => text.replaceAll('\n', ' '));
  fc.assert(
    fc.property(fc.array(line), fc.boolean(), (lines, ended) => {
      const table = lines.length === 0 ? '' : `${lines.join('\n')}${ended ? '\n' : ''}`;
      const ours = withLine(table, '/a b/service.sh');
      expect(hasLine(ours)).toBe(true);
      expect(withLine(ours, '/a b/service.sh')).toBe(ours);
      expect([table, `${table}\n`]).toContain(withoutLine(ours));
      expect(withLine(withoutLine(ours), '/a b/service.sh')).toBe(ours);
    }),
  );
});

test('in the crontab line a % is not a line break, and characters outside ASCII are written as their bytes', () => {
  const line = withLine('', '/é 50%/service.sh').trimEnd();
  expect(Buffer.from(line, 'latin1').toString('utf8')).toBe(`@reboot /bin/sh '/é 50\\%/service.sh' # cmo service`);
});

test('on macOS an agent of launchd is loaded anew by each install, and unloaded before it is removed', async () => {
  const files = new Map<string, string>();
  const ran: string[] = [];
  const box: ServiceBox = {
    platform: 'darwin',
    user: 'me',
    place: { home: '/Users/me', uid: 501, configHome: '/Users/me/.config', config: '/Users/me/.config/cmo' },
    run: (argv) => {
      ran.push(argv.join(' '));
      return { found: argv[0] === 'launchctl', exit: argv[1] === 'bootout' ? 3 : 0, out: 'state = running', why: '' };
    },
    read: (path) => files.get(path) ?? null,
    write: (path, text) => void files.set(path, text),
    remove: (path) => void files.delete(path),
    exists: () => true,
    start: () => undefined,
  };
  const plist = '/Users/me/Library/LaunchAgents/cross-model-orchestrate.plist';
  const chosen = choose(box, undefined, definition);
  await perform(installPlan(box, chosen, definition, false), box, () => Promise.resolve());
  expect(chosen.notes).toEqual(['launchd starts it with your login, not with the box']);
  expect(lookAtService(box, NAMED, false)).toEqual({
    kind: 'launchd',
    file: plist,
    ...NAMED,
    enabled: true,
    running: true,
    linger: null,
    problems: [],
  });
  await perform(uninstallPlan(box, false), box, () => Promise.resolve());
  expect(files.size).toBe(0);
  expect(ran.filter((line) => /bootout|enable|bootstrap/.test(line))).toEqual([
    'launchctl bootout gui/501/cross-model-orchestrate',
    'launchctl enable gui/501/cross-model-orchestrate',
    `launchctl bootstrap gui/501 ${plist}`,
    'launchctl bootout gui/501/cross-model-orchestrate',
  ]);
});

const input = {
  command: COMMAND,
  program: '/p/daemon.mjs',
  state: '/s',
  words: '/w',
  config: DEFAULT_CONFIG,
  fileConfig: DEFAULT_CONFIG,
};

test('a service is given PATH and where things lie, and nothing secret', () => {
  const env = {
    PATH: '/home/me/bin:relative::/usr/bin:/usr/bin',
    HOME: '/home/me',
    CODEX_HOME: '/c',
    CMO_STATE_DIR: '/s',
    CMO_CLAUDE_FRONTIER: 'opus',
    CMO_REDIS_URL: 'unix:/r.sock',
    CMO_PREFER: '',
    ...{
      CMO_ATTEMPT: 'x',
      CMO_FLEET_TOKEN: 'canary',
      OPENAI_API_KEY: 'canary',
      CLAUDE_CODE_OAUTH_TOKEN: 'canary',
      CMO_TEST_LEDGER: 'x',
      TMPDIR: '/tmp/nix-shell',
      XDG_RUNTIME_DIR: '/run/user/1',
      SSH_AUTH_SOCK: '/x',
    },
  };
  const { definition: made, notes } = define({
    ...input,
    env,
    config: { ...DEFAULT_CONFIG, redisUrl: 'unix:/r.sock', fleet: { ...DEFAULT_CONFIG.fleet, token: 'canary' } },
  });
  expect(made.environment).toEqual([
    ['PATH', '/home/me/bin:/usr/bin'],
    ['HOME', '/home/me'],
    ['CODEX_HOME', '/c'],
    ['CMO_STATE_DIR', '/s'],
    ['CMO_REDIS_URL', 'unix:/r.sock'],
    ['CMO_CLAUDE_FRONTIER', 'opus'],
  ]);
  expect(notes).toEqual([expect.stringContaining('CMO_FLEET_TOKEN') as string]);
  expect(JSON.stringify(notes)).not.toContain('canary');
});

test.each([
  'redis://:canary@h',
  'redis://me:canary@h:1/2',
  'rediss+sentinel://h:1/m?sentinelPassword=canary',
  'no address canary',
])('a Redis whose address %s holds a password has to stand in the config file', (url) => {
  const config = { ...DEFAULT_CONFIG, redisUrl: url };
  const env = { PATH: '/usr/bin', CMO_REDIS_URL: url };
  expect(() => define({ ...input, env, config })).toThrow(/holds a password/);
  expect(define({ ...input, env, config, fileConfig: config }).definition.environment).toEqual([['PATH', '/usr/bin']]);
});

test('a value that no file can carry is refused by its name', () => {
  expect(() => define({ ...input, env: { PATH: '/a\nExecStartPre=/bin/evil' } })).toThrow(
    /^PATH holds a control character/,
  );
});

test('a program in the cache of npx is warned of', () => {
  expect(
    define({ ...input, env: {}, command: ['/n', '/home/me/.npm/_npx/12/node_modules/x/dist/daemon.mjs'] }).notes,
  ).toEqual([expect.stringContaining('npm install -g') as string]);
});
