import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundleCli } from '../../../../scripts/bundles.mjs';
import { tempFolder } from '../../../support/temp.js';

export type BuiltCli = { program: string; hot: Metafile; cold: Metafile };

/** The CLI as scripts/build.mjs makes it, in a folder of this test's own: a test must not depend on how old dist is. */
export async function buildCli(): Promise<BuiltCli> {
  const outdir = tempFolder('cli');
  const { metafiles } = await bundleCli(outdir);
  return { program: join(outdir, 'cmo.cjs'), ...metafiles };
}
