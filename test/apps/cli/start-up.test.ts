import { readFileSync } from 'node:fs';
import type { Metafile } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { VERSION } from '#contract';
import { buildCli } from './support/build-cli.js';

/** Each of these costs a start of `cmo` more than all of ours together; 250 shims start it once a night each. */
const TOO_HEAVY = /node_modules\/(?:pino|execa|ioredis|bullmq|ajv|fastify|undici|zod|fast-json-stringify)\//;

let hot: Metafile;
let cold: Metafile;
beforeAll(async () => {
  ({ hot, cold } = await buildCli());
});

/** Source files that stand in a bundle's own file: all of them are read at a start. */
function sourcesOf(meta: Metafile, entry: string): string[] {
  const output = Object.values(meta.outputs).find(({ entryPoint }) => entryPoint === entry);
  expect(output, entry).toBeDefined();
  return Object.keys(output?.inputs ?? {});
}

test('what every start reads holds the everyday commands and nothing heavy', () => {
  const sources = sourcesOf(hot, 'apps/cli/main.ts');
  for (const name of ['run', 'submit', 'plan', 'limits', 'wait', 'result', 'ls', 'show', 'status', 'cancel'])
    expect(sources).toContain(`apps/cli/commands/${name}.ts`);
  expect(sources.filter((path) => TOO_HEAVY.test(path))).toEqual([]);
});

test('rare commands and the daemon’s start are in a bundle that an everyday start does not read', () => {
  const sources = sourcesOf(hot, 'apps/cli/main.ts');
  expect(
    sources.filter(
      (path) => path.startsWith('apps/daemon') || /commands\/(?:doctor|explain|config|help)\.ts$/.test(path),
    ),
  ).toEqual([]);
  expect(Object.keys(cold.inputs)).toEqual(
    expect.arrayContaining(['apps/cli/commands/doctor.ts', 'apps/cli/commands/explain.ts', 'apps/daemon/client.ts']),
  );
});

test('the version that cmo tells is the package’s', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(VERSION).toBe(version);
});
