// dist/ as the sources say. Compared by content, not by time: a
// checkout of an older commit makes files with newer times.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, say } from './command.mjs';

const STAMP = join('dist', 'sources.sha256');
const PROGRAMS = ['dist/cmo.cjs', 'dist/cold.mjs', 'dist/daemon.mjs', 'dist/supervisor.mjs'];

/** Resolves to null, or to what went wrong. */
export async function buildIfChanged(root) {
  const stamp = sourcesHash(root);
  if (PROGRAMS.every((file) => existsSync(join(root, file))) && readText(join(root, STAMP)) === stamp) return null;
  say('building');
  const code = await run(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root, stdio: ['ignore', 2, 2] });
  if (code !== 0) return `the build failed (exit ${code}); its words are above`;
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, STAMP), stamp);
  return null;
}

function sourcesHash(root) {
  const hash = createHash('sha256');
  const files = ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  for (const file of [
    ...files.filter((name) => /\.(ts|tsx|lua|sh|css)$/.test(name)).sort(),
    'scripts/build.mjs',
    'scripts/bundles.mjs',
    'package.json',
    'package-lock.json',
  ]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
