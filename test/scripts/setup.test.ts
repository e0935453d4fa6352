import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killNow } from '../support/processes.js';
import { tempFolder } from '../support/temp.js';
import { waitUntil } from '../support/wait-until.js';
import { nodeProblem } from '../../scripts/setup/node-version.mjs';

const SCRIPTS = new URL('../../scripts/', import.meta.url).pathname;

/** Runs a few lines against a module of scripts/, in a process of its own. */
function script(code: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (exit) => resolve({ code: exit, stdout, stderr })),
  );
  return { child, ended };
}

function program(folder: string, name: string, body: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(folder, name), 0o755);
}

test('an older Node is refused with what to do; this one and a newer one are accepted', () => {
  expect(nodeProblem('18.19.0')).toMatch(/Node 20\.20\.2 or newer is needed, this is 18\.19\.0/);
  expect(nodeProblem('20.20.1')).not.toBeNull();
  for (const version of ['20.20.2', '20.21.0', '22.0.0', '24.1.0']) expect(nodeProblem(version)).toBeNull();
});

test('one holder of the lock at a time, and the lock of a killed holder is taken over', async () => {
  const folder = tempFolder('lock');
  const log = join(folder, 'log');
  const hold = (name: string, ms: number): string => `
    import { appendFileSync } from 'node:fs';
    import { withLock } from '${SCRIPTS}setup/lock.mjs';
    await withLock('${join(folder, 'lock')}', 'a test', async () => {
      appendFileSync('${log}', '${name} in\\n');
      await new Promise((resolve) => setTimeout(resolve, ${ms}));
      appendFileSync('${log}', '${name} out\\n');
    });`;
  const lines = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  const first = script(hold('first', 60_000));
  await waitUntil(() => lines().length === 1);
  const others = ['a', 'b', 'c', 'd'].map((name) => script(hold(name, 100)));
  await waitUntil(() => others.every(({ child }) => child.pid !== undefined));
  expect(lines()).toEqual(['first in']);
  await killNow(first.child.pid ?? 0);
  expect((await Promise.all(others.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const after = lines().slice(1);
  expect(after).toHaveLength(8);
  // Nobody came in between one's in and out.
  for (let i = 0; i < after.length; i += 2) expect(after[i + 1]).toBe(after[i]?.replace(' in', ' out'));
  expect(readdirSync(folder)).toEqual(['log']);
});

test('where no package manager can help, one line says what to type', async () => {
  const empty = tempFolder('path');
  const code = `import { provideRedis } from '${SCRIPTS}setup/redis.mjs'; console.log(await provideRedis({ platform: process.argv[1], uid: 1000 }));`;
  for (const [platform, words] of [
    ['linux', 'install redis'],
    ['darwin', 'brew install redis'],
  ] as const) {
    const run = script(code.replace('process.argv[1]', `'${platform}'`), { PATH: empty });
    const { stdout } = await run.ended;
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stdout).toContain(words);
  }
  program(empty, 'apt-get', 'exit 1');
  expect((await script(code.replace('process.argv[1]', "'linux'"), { PATH: empty }).ended).stdout.trim()).toBe(
    "Redis is needed and can't be installed from here; type: sudo apt-get install redis-server",
  );
});

test('as root, or with a sudo that asks nothing, apt-get installs it and no service is started', async () => {
  for (const sudo of [false, true]) {
    const folder = tempFolder('apt');
    const [calls, policy, server] = ['calls', 'policy-rc.d', 'redis-server'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const name of ['env', 'install', 'rm', 'sh', 'true', 'chmod'])
      symlinkSync(`/usr/bin/${name}`, join(folder, name));
    program(
      folder,
      'apt-get',
      `echo "$* ($("${policy}"; echo $?))" >>"${calls}"\ncase "$*" in *install*) echo '#!/bin/sh' >"${server}" && chmod +x "${server}" ;; esac`,
    );
    if (sudo) program(folder, 'sudo', `echo "$*" >>"${folder}/sudo-calls"; shift; exec "$@"`);
    const code = `import { provideRedis } from '${SCRIPTS}setup/redis.mjs'; console.log(await provideRedis({ platform: 'linux', uid: ${sudo ? 1000 : 0}, policyFile: '${policy}' }));`;
    const { stdout, stderr } = await script(code, { PATH: folder }).ended;
    expect(stdout.trim()).toBe('null');
    expect(stderr).toContain('apt-get install redis-server');
    // 101: what Debian's installer takes for "start nothing".
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual([
      '-q -y update (101)',
      '-q -y install --no-install-recommends redis-server (101)',
    ]);
    expect(existsSync(policy)).toBe(false);
    expect(existsSync(join(folder, 'sudo-calls'))).toBe(sudo);
  }
});

test('packages are installed when the lock file asks for others than are there, and not otherwise', async () => {
  const root = tempFolder('deps');
  const lock = (version: string) =>
    JSON.stringify({
      lockfileVersion: 3,
      packages: {
        '': {},
        'node_modules/a': { version },
        'node_modules/only-elsewhere': { version: '1.0.0', optional: true },
      },
    });
  const npm = `${root}/npm-cli.js`;
  writeFileSync(
    npm,
    `require('fs').mkdirSync('node_modules', { recursive: true }); require('fs').appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');`,
  );
  const install = async () => {
    const code = `import { installDependencies } from '${SCRIPTS}setup/dependencies.mjs'; console.log(await installDependencies('${root}'));`;
    expect((await script(code, { npm_execpath: npm, NODE_ENV: 'production' }).ended).stdout.trim()).toBe('null');
    return existsSync(join(root, 'npm-calls'))
      ? readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n').length
      : 0;
  };
  // Installed by hand, with npm's own note of what lies there.
  writeFileSync(join(root, 'package-lock.json'), lock('1.0.0'));
  mkdirSync(join(root, 'node_modules'));
  writeFileSync(
    join(root, 'node_modules/.package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }),
  );
  expect(await install()).toBe(0);
  writeFileSync(join(root, 'package-lock.json'), lock('1.0.1'));
  expect(await install()).toBe(1);
  expect(await install()).toBe(1);
  expect(readFileSync(join(root, 'npm-calls'), 'utf8')).toContain('ci --include=dev');
});
