// Builds dist/. Bundled beside it and moved in: a cmo that runs meanwhile never finds half a build. Chunk names carry a
// hash of their content, so new ones lie beside those that a running
// process may still load; old ones are removed by a later build.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, bundleCli } from './bundles.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const KEEP_MS = 600_000;

mkdirSync('dist/chunks', { recursive: true });
mkdirSync('dist/meta', { recursive: true });
const outdir = mkdtempSync('dist/.build-');
try {
  const [supervisor, daemon, cli] = await Promise.all([
    bundle('supervisor', outdir),
    bundle('daemon', outdir),
    bundleCli(outdir),
  ]);
  chmodSync(join(outdir, 'cmo.cjs'), 0o755);
  const chunks = readdirSync(join(outdir, 'chunks'));
  for (const name of chunks) renameSync(join(outdir, 'chunks', name), join('dist/chunks', name));
  // cmo last: what it loads lies there before it does.
  const files = ['supervisor.mjs', 'daemon.mjs', ...cli.files];
  for (const name of files) renameSync(join(outdir, name), join('dist', name));
  for (const [name, metafile] of Object.entries({ supervisor, daemon, ...cli.metafiles }))
    writeFileSync(`dist/meta/${name}.json`, JSON.stringify(metafile).replaceAll(`${outdir}/`, 'dist/'));
  removeOld('dist/chunks', (name) => !chunks.includes(name));
  removeOld('dist', (name) => name.startsWith('.build-') || (/^hot-.*\.cjs$/.test(name) && !files.includes(name)));
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
