import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { tempFolder } from '../../../support/temp.js';

export type BuiltCli = { program: string; meta: Metafile };

/** The CLI as scripts/build.mjs makes it, in a folder of this test's own: a test must not depend on how old dist is. */
export async function buildCli(): Promise<BuiltCli> {
  const outdir = tempFolder('cli');
  const root = new URL('../../../..', import.meta.url).pathname;
  const banner = "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";
  const result = await build({
    absWorkingDir: root,
    entryPoints: { cmo: 'apps/cli/main.ts' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['cmo-source'],
    loader: { '.lua': 'text', '.sh': 'text' },
    outExtension: { '.js': '.mjs' },
    outdir,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: banner },
    metafile: true,
    logLevel: 'silent',
    minifySyntax: true,
    minifyWhitespace: true,
  });
  return { program: join(outdir, 'cmo.mjs'), meta: result.metafile };
}
