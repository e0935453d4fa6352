import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('what the CLI loads of the daemon drags no server, logger, queue or third party along', async () => {
  const { metafile } = await build({
    entryPoints: ['apps/daemon/client.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    conditions: ['cmo-source'],
    metafile: true,
  });
  expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'))).toEqual([]);
  expect(
    Object.keys(metafile.inputs).filter((path) =>
      /^(apps\/(api|worker)|libs\/(store|gate|queue|policy|vendors))\//.test(path),
    ),
  ).toEqual([]);
});
