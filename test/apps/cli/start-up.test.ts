import { readFileSync } from 'node:fs';
import type { Metafile } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { VERSION } from '#contract';
import { buildCli } from './support/build-cli.js';

/** Each of these costs a start of `cmo` more than all of ours together; 250 shims start it once a night each. */
const TOO_HEAVY = /node_modules\/(?:pino|execa|ioredis|bullmq|ajv|fastify|undici|zod|fast-json-stringify)\//;

let meta: Metafile;
beforeAll(async () => {
  ({ meta } = await buildCli());
});

/** Source files in the chunks that are loaded when the command's module is imported, without what it imports lazily. */
function loadedBy(entry: string): string[] {
  const outputs = new Map(Object.entries(meta.outputs));
  const start = [...outputs].find(([, output]) => output.entryPoint === entry)?.[0];
  expect(start, entry).toBeDefined();
  const chunks = new Set<string>();
  const open = [start ?? ''];
  for (let chunk = open.pop(); chunk !== undefined; chunk = open.pop()) {
    if (chunks.has(chunk)) continue;
    chunks.add(chunk);
    for (const { path, kind, external } of outputs.get(chunk)?.imports ?? []) if (kind !== 'dynamic-import' && !external) open.push(path);
  }
  return [...chunks].flatMap((chunk) => Object.keys(outputs.get(chunk)?.inputs ?? {}));
}

test.each(['main', 'commands/run', 'commands/submit', 'commands/wait', 'commands/result', 'commands/ls', 'commands/show', 'commands/status', 'commands/cancel'])('what %s loads at once holds nothing heavy', (name) => {
  const sources = loadedBy(`apps/cli/${name}.ts`);
  expect(sources.length).toBeGreaterThan(3);
  expect(sources.filter((path) => TOO_HEAVY.test(path))).toEqual([]);
});

test('a listing loads neither the configuration nor the policy, and nothing loads the daemon', () => {
  expect(loadedBy('apps/cli/commands/ls.ts').filter((path) => /libs\/(?:config\/(?:load|resolve)|policy)/.test(path))).toEqual([]);
  for (const name of ['run', 'submit', 'ls']) expect(loadedBy(`apps/cli/commands/${name}.ts`).filter((path) => path.startsWith('apps/daemon'))).toEqual([]);
});

test('the version that cmo tells is the package’s', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string };
  expect(VERSION).toBe(version);
});
