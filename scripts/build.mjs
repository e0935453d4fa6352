// Bundles the programs. The CLI is split into lazy chunks (start-up is a budget: 250 shims each start it once a
// night); the daemon and the supervisor are one file each, so that replacing the package under them breaks nothing.
import { rmSync, chmodSync, writeFileSync, mkdirSync } from 'node:fs';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
process.chdir(root);
for (const stale of ['dist/cmo.mjs', 'dist/daemon.mjs', 'dist/supervisor.mjs', 'dist/chunks']) rmSync(stale, { recursive: true, force: true });
mkdirSync('dist', { recursive: true });

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['cmo-source'],
  loader: { '.lua': 'text', '.sh': 'text' },
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
  metafile: true,
  legalComments: 'none',
  minifySyntax: true,
  minifyWhitespace: true,
  // CommonJS dependencies call require(); the name is uncommon so that no bundled module declares it too.
  banner: { js: "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);" },
};

const cli = await build({ ...shared, entryPoints: { cmo: 'apps/cli/main.ts' }, outdir: 'dist', splitting: true, chunkNames: 'chunks/[name]-[hash]', banner: { js: `#!/usr/bin/env node\n${shared.banner.js}` } });
const daemon = await build({ ...shared, entryPoints: { daemon: 'apps/daemon/main.ts' }, outdir: 'dist' });
const supervisor = await build({ ...shared, entryPoints: { supervisor: 'libs/runner/node-supervisor.ts' }, outdir: 'dist' });
chmodSync('dist/cmo.mjs', 0o755);
mkdirSync('dist/meta', { recursive: true });
for (const [name, result] of Object.entries({ cli, daemon, supervisor })) writeFileSync(`dist/meta/${name}.json`, JSON.stringify(result.metafile));
