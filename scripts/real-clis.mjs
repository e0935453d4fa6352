// The two vendors' own CLIs for the tests, exactly pinned, never a dependency: fetched by npm into a cache folder keyed
// by version. `node scripts/real-clis.mjs` fetches what is missing (about 1 GB on disk) and prints where they are.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmCommand, runQuietly, say } from './setup/command.mjs';
import { withLock } from './setup/lock.mjs';

// claude 2.1.332 asks for Node 22 in its manifest, but only its installer is JavaScript: it runs on 20. Without an
// exact version, npm on Node 20 silently takes 2.1.197, which lacks the quota numbers.
export const REAL_CLIS = [
  { id: 'codex', package: '@openai/codex', version: '0.171.0', says: 'codex-cli 0.171.0' },
  { id: 'claude', package: '@anthropic-ai/claude-code', version: '2.1.332', says: '2.1.332 (Claude Code)' },
];

const HOUR_MS = 3_600_000;

export function cacheFolder(env = process.env) {
  return (
    env.CMO_TEST_CLI_CACHE ?? join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cross-model-orchestrate', 'clis')
  );
}

const folderOf = (cli, cache) => join(cache, `${cli.id}-${cli.version}`);
const binOf = (cli, folder) => join(folder, 'node_modules', '.bin', cli.id);

/** { codex: path, claude: path } when both are in the cache, else null. Downloads nothing. */
export function presentClis(cache = cacheFolder()) {
  const found = REAL_CLIS.map((cli) => [cli.id, binOf(cli, folderOf(cli, cache))]);
  return found.every(([, bin]) => existsSync(bin)) ? Object.fromEntries(found) : null;
}

/** Fetches what is missing. Throws with the reason when one can't be had. */
export async function fetchClis(cache = cacheFolder()) {
  mkdirSync(cache, { recursive: true });
  return withLock(join(cache, 'fetch.lock'), 'fetching the CLIs', async () => {
    removeLeftovers(cache);
    for (const cli of REAL_CLIS) {
      if (!existsSync(binOf(cli, folderOf(cli, cache)))) await fetchOne(cli, cache);
    }
    return presentClis(cache);
  });
}

/** Into a folder of its own, tried once, then moved: a folder with the final name is always whole. */
async function fetchOne(cli, cache) {
  say(`fetching ${cli.package}@${cli.version} into ${cache}`);
  const temporary = mkdtempSync(join(cache, `.fetch-${cli.id}-`));
  try {
    writeFileSync(join(temporary, 'package.json'), '{"private":true}\n');
    const [command, first] = npmCommand();
    const args = [
      'install',
      '--no-save',
      '--no-package-lock',
      '--engine-strict=false',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--include=optional',
    ];
    const code = await runQuietly(command, [...first, ...args, `${cli.package}@${cli.version}`], { cwd: temporary });
    if (code !== 0) throw new Error(`npm could not fetch ${cli.package}@${cli.version} (exit ${code})`);
    const said = versionOf(binOf(cli, temporary), temporary);
    if (said !== cli.says) throw new Error(`${cli.package}@${cli.version} says its version is "${said}"`);
    renameSync(temporary, folderOf(cli, cache));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** In a clean environment: a CLI under test must never see the login of whoever runs the tests. */
function versionOf(bin, home) {
  const { stdout, error } = spawnSync(bin, ['--version'], {
    env: { PATH: process.env.PATH, HOME: home },
    encoding: 'utf8',
    timeout: 60_000,
  });
  return error ? String(error.message) : stdout.trim();
}

/** What a killed fetch left. We hold the lock, so nobody is writing there; the hour is for clocks of shared folders. */
function removeLeftovers(cache) {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    if (basename(folder).startsWith('.fetch-') && Date.now() - statSync(folder).mtimeMs > HOUR_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    for (const bin of Object.values(await fetchClis())) console.log(bin);
  } catch (error) {
    say(`${error.message}`);
    process.exitCode = 1;
  }
}
