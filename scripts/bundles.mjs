// What is bundled, and how. Start-up is a budget (250 shims each start cmo once a night), measured by bench/plan.mjs:
// - cmo.cjs: the everyday commands, one CommonJS file: reading it costs Node about half of what as many ES chunks cost;
// - cold.mjs and chunks/: what apps/cli/cold.ts names, ES modules in lazy chunks, loaded when first called;
// - daemon.mjs, supervisor.mjs: one file each, so that replacing the package under them breaks nothing.
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

// CommonJS dependencies call require(); the name is uncommon so that no bundled module declares it too.
const require = "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";

/** Dynamic imports of what cold.ts exports lead to its bundle; static ones are a mistake and stay where they are. */
const coldApart = {
  name: 'cold-apart',
  setup(api) {
    const cold = readFileSync(new URL('../apps/cli/cold.ts', import.meta.url), 'utf8');
    const modules = [...cold.matchAll(/from '(?:\.\/(?:commands|plan|request)\/([a-z-]+)\.js|(#[a-z/-]+))'/g)].map(([, command, lib]) => command ?? lib);
    api.onResolve({ filter: /^(?:\.{1,2}\/|#)/ }, ({ path, kind }) => {
      const name = path.startsWith('#') ? path : path.replace(/^.*\//, '').replace(/\.js$/, '');
      return kind === 'dynamic-import' && modules.includes(name) ? { path: './cold.mjs', external: true } : undefined;
    });
  },
};

export const BUNDLES = {
  cmo: {
    entry: 'apps/cli/main.ts',
    file: 'cmo.cjs',
    options: {
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      define: { 'import.meta.url': 'cmoModuleUrl' },
      banner: { js: "#!/usr/bin/env node\nconst cmoModuleUrl = require('node:url').pathToFileURL(__filename).href;" },
      plugins: [coldApart],
    },
  },
  cold: { entry: 'apps/cli/cold.ts', file: 'cold.mjs', options: { splitting: true, chunkNames: 'chunks/[name]-[hash]' } },
  daemon: { entry: 'apps/daemon/main.ts', file: 'daemon.mjs', options: {} },
  supervisor: { entry: 'libs/runner/node-supervisor.ts', file: 'supervisor.mjs', options: {} },
};

/** Writes `<outdir>/<file>` and answers esbuild's metafile: which module landed in which file. */
export async function bundle(name, outdir) {
  const { entry, options } = BUNDLES[name];
  const { metafile } = await build({
    absWorkingDir: root,
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
