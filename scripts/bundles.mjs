// What is bundled, and how. The CLI is split into lazy chunks (start-up is a budget: 250 shims each start it once a
// night); the daemon and the supervisor are one file each, so that replacing the package under them breaks nothing.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// CommonJS dependencies call require(); the name is uncommon so that no bundled module declares it too.
const require = "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";

const BUNDLES = {
  cmo: { entry: 'apps/cli/main.ts', options: { splitting: true, chunkNames: 'chunks/[name]-[hash]', banner: { js: `#!/usr/bin/env node\n${require}` } } },
  daemon: { entry: 'apps/daemon/main.ts', options: {} },
  supervisor: { entry: 'libs/runner/node-supervisor.ts', options: {} },
};

/** Writes `<outdir>/<name>.mjs` and answers esbuild's metafile: which module landed in which file. */
export async function bundle(name, outdir) {
  const { entry, options } = BUNDLES[name];
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
    entryPoints: { [name]: entry },
    outdir,
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
    banner: { js: require },
    ...options,
  });
  return metafile;
}
