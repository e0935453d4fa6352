// Builds dist/. Bundled beside it and moved in: a cmo that runs meanwhile never finds half a build. Chunk names carry a hash of
// their content, so new ones lie beside those that a running process may still load; old ones are removed by a later build.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, BUNDLES } from './bundles.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const KEEP_MS = 600_000;

mkdirSync('dist/chunks', { recursive: true });
mkdirSync('dist/meta', { recursive: true });
const outdir = mkdtempSync('dist/.build-');
try {
  // cmo last: what it loads lies there before it does.
  const names = ['supervisor', 'daemon', 'cold', 'cmo'];
  const metafiles = await Promise.all(names.map((name) => bundle(name, outdir)));
  chmodSync(join(outdir, BUNDLES.cmo.file), 0o755);
  const chunks = readdirSync(join(outdir, 'chunks'));
  for (const name of chunks) renameSync(join(outdir, 'chunks', name), join('dist/chunks', name));
  for (const name of names) renameSync(join(outdir, BUNDLES[name].file), join('dist', BUNDLES[name].file));
  // With paths as they lie in dist/: a test reads from it what the CLI loads at start.
  for (const [i, name] of names.entries()) writeFileSync(`dist/meta/${name}.json`, JSON.stringify(metafiles[i]).replaceAll(`${outdir}/`, 'dist/'));
  removeOld('dist/chunks', (name) => !chunks.includes(name));
  removeOld('dist', (name) => name.startsWith('.build-'));
} catch (error) {
  // esbuild has printed its errors already; anything else is a bug of this script.
  if (!Array.isArray(error.errors)) throw error;
  process.exitCode = 1;
} finally {
  rmSync(outdir, { recursive: true, force: true });
}

function removeOld(folder, isOld) {
  for (const name of readdirSync(folder).filter(isOld)) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path, { recursive: true, force: true });
  }
}
