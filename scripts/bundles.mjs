// What is bundled, and how. Start-up is a budget (250 shims each
// start cmo once a night), measured by bench/start-up.mjs:
// - cmo.cjs: what Node starts; it loads
// - hot-<hash>.cjs: the everyday commands, one CommonJS file:
// reading it costs Node about half of what as many ES chunks cost;
// - cold.mjs and chunks/: what apps/cli/cold.ts names, ES modules in lazy chunks, loaded when first called;
// - daemon.mjs, supervisor.mjs: one file each, so that replacing the package under them breaks nothing.
import { fileURLToPath } from 'node:url';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

// CommonJS dependencies call require(); the name is uncommon so that no bundled module declares it too.
const require =
  "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";

/** Dynamic imports of what cold.ts exports lead to its bundle; static ones are a mistake and stay where they are. */
const coldApart = {
  name: 'cold-apart',
  setup(api) {
    const cli = join(root, 'apps/cli');
    const named = (specifier, folder) => (specifier.startsWith('#') ? specifier : resolve(folder, specifier));
    const cold = readFileSync(join(cli, 'cold.ts'), 'utf8');
    const modules = new Set(
      [...cold.matchAll(/from '((?:\.\/|#)[^']+)'/g)].map(([, specifier]) => named(specifier, cli)),
    );
    api.onResolve({ filter: /^(?:\.{1,2}\/|#)/ }, ({ path, kind, resolveDir }) => {
      return kind === 'dynamic-import' && modules.has(named(path, resolveDir))
        ? { path: './cold.mjs', external: true }
        : undefined;
    });
  },
};

/**
 * What packages read at once and hardly ever need, each some milliseconds of every start. commander takes
 * node:child_process for commands that are programs of their own, of which
 * there are none; picocolors opens stdout to see whether it is a terminal.
 */
const LATER = {
  child_process: "module.exports = { spawn: (...args) => require('node:child_process').spawn(...args) };",
  picocolors: `let real; const colours = () => (real ??= require('picocolors/picocolors.js')); const plain = new Proxy({}, { get: () => String });
    module.exports = { createColors: (on) => (on ? colours().createColors(true) : plain), get isColorSupported() { return colours().isColorSupported; } };`,
};
const later = {
  name: 'later',
  setup(api) {
    api.onResolve({ filter: /^(?:node:)?child_process$/ }, ({ importer }) =>
      /node_modules\/commander\//.test(importer) ? { path: 'child_process', namespace: 'later' } : undefined,
    );
    api.onResolve({ filter: /^picocolors$/ }, () => ({ path: 'picocolors', namespace: 'later' }));
    api.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({
      contents: LATER[path],
      loader: 'js',
      resolveDir: root,
    }));
  },
};

const asCommonJs = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.url': 'cmoModuleUrl' },
  banner: { js: "const cmoModuleUrl = require('node:url').pathToFileURL(__filename).href;" },
};

const BUNDLES = {
  hot: { entry: 'apps/cli/main.ts', file: 'hot.cjs', options: { ...asCommonJs, plugins: [coldApart, later] } },
  cold: {
    entry: 'apps/cli/cold.ts',
    file: 'cold.mjs',
    options: { splitting: true, chunkNames: 'chunks/[name]-[hash]' },
  },
  daemon: { entry: 'apps/daemon/main.ts', file: 'daemon.mjs', options: {} },
  supervisor: { entry: 'libs/runner/node-supervisor.ts', file: 'supervisor.mjs', options: {} },
};

/**
 * Writes the programs into a folder. cmo.cjs is made last and names hot.cjs by what is in it, since it keeps what V8
 * made of that text: `hot-<hash>.cjs`. @returns which files they are, and for each bundle esbuild's metafile
 */
export async function bundleCli(outdir) {
  const [hot, cold] = await Promise.all([bundle('hot', outdir), bundle('cold', outdir)]);
  const text = withoutImports(readFileSync(join(outdir, BUNDLES.hot.file), 'utf8'));
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const file = `hot-${hash}.cjs`;
  rmSync(join(outdir, BUNDLES.hot.file));
  writeFileSync(join(outdir, file), text);
  const start = {
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    define: { CMO_HOT: JSON.stringify({ file, hash }) },
    banner: { js: '#!/usr/bin/env node' },
  };
  await write('apps/cli/start.ts', 'cmo', outdir, { ...start, external: ['./cold.mjs'] });
  return { files: [file, BUNDLES.cold.file, 'cmo.cjs'], metafiles: { hot, cold } };
}

/**
 * A script that is compiled from its text can import nothing: the cold
 * bundle comes through apps/cli/start.ts, Node's own modules are there.
 */
function withoutImports(text) {
  const changed = text
    .replaceAll('import("./cold.mjs")', 'cmoCold()')
    .replace(/import\("(node:[a-z_/]+)"\)/g, 'Promise.resolve().then(()=>require("$1"))');
  const left = /import\("[^"]*"\)/.exec(changed);
  if (left) throw new Error(`the everyday commands import what they can't: ${left[0]}`);
  return changed;
}

/** Writes `<outdir>/<file>` and answers esbuild's metafile: which module landed in which file. */
export async function bundle(name, outdir) {
  const { entry, options } = BUNDLES[name];
  return write(entry, name, outdir, options);
}

async function write(entry, name, outdir, options) {
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
