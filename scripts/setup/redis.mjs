// A Redis server program on this box: the one on PATH, else installed by the system's package manager, without starting
// it as a service. cmo starts its own on a unix socket; a system service is neither needed nor touched.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, findOnPath, runQuietly, say } from './command.mjs';

const NAMES = ['redis-server', 'valkey-server'];

/** Null when there is one (now), else the one line that says what to type. */
export async function provideRedis({
  platform = process.platform,
  uid = process.getuid?.(),
  policyFile = '/usr/sbin/policy-rc.d',
} = {}) {
  if (findServer()) return null;
  if (platform === 'darwin') {
    if (!findOnPath('brew')) return typeThis('install Homebrew (https://brew.sh), then: brew install redis');
    say('no redis-server on PATH: installing it with Homebrew (brew install redis); no service is started');
    await runQuietly('brew', ['install', 'redis']);
    return findServer() ? null : typeThis('brew install redis');
  }
  if (!findOnPath('apt-get')) return typeThis(otherManager());
  const prefix = asRoot(uid);
  if (prefix === null) return typeThis('sudo apt-get install redis-server');
  say(
    `no redis-server on PATH: installing Debian's package (${[...prefix, 'apt-get install redis-server'].join(' ')}); no service is started`,
  );
  await installByApt(prefix, policyFile);
  return findServer() ? null : typeThis('sudo apt-get update && sudo apt-get install redis-server');
}

function findServer() {
  return NAMES.map((name) => findOnPath(name)).find(Boolean);
}

/** The words to put in front of a command that must run as root; null when that needs a password. */
function asRoot(uid) {
  if (uid === 0) return [];
  return findOnPath('sudo') && answers('sudo', ['-n', 'true']) ? ['sudo', '-n'] : null;
}

async function installByApt(prefix, policyFile) {
  const root = (command, ...args) => {
    const [program, ...rest] = [...prefix, command, ...args];
    return runQuietly(program, rest);
  };
  const apt = (...args) => root('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-y', ...args);
  const removePolicy = await forbidServices(root, policyFile);
  try {
    // An update that fails in one of several sources may still have what is needed.
    await apt('update');
    await apt('install', '--no-install-recommends', 'redis-server');
  } finally {
    await removePolicy();
  }
}

/** Debian starts a service at installation unless policy-rc.d says 101. An existing policy is the owner's and stays. */
async function forbidServices(root, policyFile) {
  if (existsSync(policyFile)) return async () => undefined;
  const folder = mkdtempSync(join(tmpdir(), 'cmo-policy-'));
  const file = join(folder, 'policy-rc.d');
  writeFileSync(file, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  await root('install', '-m', '755', file, policyFile);
  rmSync(folder, { recursive: true, force: true });
  return () => root('rm', '-f', policyFile);
}

function otherManager() {
  const known = [
    ['dnf', 'sudo dnf install valkey'],
    ['pacman', 'sudo pacman -S valkey'],
    ['apk', 'sudo apk add redis'],
    ['zypper', 'sudo zypper install redis'],
  ];
  return (
    known.find(([manager]) => findOnPath(manager))?.[1] ??
    'install redis (https://redis.io/docs/install) so that redis-server is on PATH'
  );
}

function typeThis(command) {
  return `Redis is needed and can't be installed from here; type: ${command}`;
}
