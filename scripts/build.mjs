// Bundles the programs. The CLI is split into lazy chunks (start-up is a budget: 250 shims each start it once a
// night); the daemon and the supervisor are one file each, so that replacing the package under them breaks nothing.
//
// Built beside dist/ and moved in: a cmo that runs meanwhile never finds half a build. Chunk names carry a hash of their
// content, so new ones lie beside those that a running process may still load; old ones are removed by a later build.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

process.chdir(new URL('..', import.meta.url).pathname);
const OLD_CHUNK_MS = 600_000;

mkdirSync('dist/chunks', { recursive: true });
mkdirSync('dist/meta', { recursive: true });
const outdir = mkdtempSync('dist/.build-');
try {
  const shared = {
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['cmo-source'],
    loader: { '.lua': 'text', '.sh': 'text' },
    outExtension: { '.js': '.mjs' },
    outdir,
    logLevel: 'warning',
    metafile: true,
    legalComments: 'none',
    minifySyntax: true,
    minifyWhitespace: true,
    // CommonJS dependencies call require(); the name is uncommon so that no bundled module declares it too.
    banner: { js: "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);" },
  };
  const [cli, daemon, supervisor] = await Promise.all([
    build({
      ...shared,
      entryPoints: { cmo: 'apps/cli/main.ts' },
      splitting: true,
      chunkNames: 'chunks/[name]-[hash]',
      banner: { js: `#!/usr/bin/env node\n${shared.banner.js}` },
    }),
    build({ ...shared, entryPoints: { daemon: 'apps/daemon/main.ts' } }),
    build({ ...shared, entryPoints: { supervisor: 'libs/runner/node-supervisor.ts' } }),
  ]);
  for (const [name, result] of Object.entries({ cli, daemon, supervisor })) {
    // The test of the start-up budget reads which module landed in which chunk; paths as they lie in dist/.
    writeFileSync(`dist/meta/${name}.json`, JSON.stringify(result.metafile).replaceAll(`${outdir}/`, 'dist/'));
  }
  chmodSync(join(outdir, 'cmo.mjs'), 0o755);

  const fresh = new Set(readdirSync(join(outdir, 'chunks')));
  for (const name of fresh) renameSync(join(outdir, 'chunks', name), join('dist/chunks', name));
  for (const name of ['supervisor.mjs', 'daemon.mjs', 'cmo.mjs']) renameSync(join(outdir, name), join('dist', name));
  for (const name of readdirSync('dist/chunks')) {
    const file = join('dist/chunks', name);
    if (!fresh.has(name) && Date.now() - statSync(file).mtimeMs > OLD_CHUNK_MS) rmSync(file);
  }
} catch (error) {
  // esbuild has printed its errors already; anything else is a bug of this script.
  if (!Array.isArray(error.errors)) throw error;
  process.exitCode = 1;
} finally {
  rmSync(outdir, { recursive: true, force: true });
}
