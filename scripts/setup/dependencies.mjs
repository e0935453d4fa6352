// node_modules as package-lock.json says, and no npm run when it already is.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand, run, say } from './command.mjs';

const STAMP = join('node_modules', '.cmo-installed');
/** What native packages are chosen by. */
const MACHINE = `${process.platform}-${process.arch}-${process.versions.modules}`;

/** Resolves to null, or to what went wrong. */
export async function installDependencies(root) {
  const stamp = `${lockHash(root)} ${MACHINE}\n`;
  const before = readText(join(root, STAMP));
  if (before === stamp) return null;
  const forAnother = before !== null && !before.endsWith(` ${MACHINE}\n`);
  if (forAnother || !isInstalled(root)) {
    say('installing the packages of package-lock.json (npm ci)');
    const [command, first] = npmCommand();
    // Development packages are named because NODE_ENV=production would leave them out.
    const code = await run(
      command,
      [...first, 'ci', '--include=dev', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
      {
        cwd: root,
        stdio: ['ignore', 2, 2],
      },
    );
    if (code !== 0) return `npm ci failed (exit ${code}); its words are above`;
  }
  writeFileSync(join(root, STAMP), stamp);
  return null;
}

function lockHash(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/**
 * Somebody ran `npm ci` or `npm install` by hand: npm's own note of what it installed agrees with the lock file.
 * Packages for other platforms are optional and may be absent.
 */
function isInstalled(root) {
  const note = readText(join(root, 'node_modules', '.package-lock.json'));
  if (note === null) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const have = JSON.parse(note).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || (have[path] ? have[path].version === entry.version : entry.optional === true),
  );
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
