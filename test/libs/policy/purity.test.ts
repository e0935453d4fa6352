import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, 'libs/policy');

/** What tsc says, under the policy's own tsconfig, of a file with this text in its folder. Nothing is written. */
function complaintsOf(text: string): string[] {
  const path = join(folder, 'impure-fixture.ts');
  const parsed = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(folder, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config,
    ts.sys,
    folder,
  );
  const options: ts.CompilerOptions = {
    ...parsed.options,
    noEmit: true,
    emitDeclarationOnly: false,
    incremental: false,
    composite: false,
  };
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  host.readFile = (file) => (file === path ? text : readFile(file));
  host.fileExists = (file) => file === path || fileExists(file);
  host.getSourceFile = (file, version) => {
    const source = host.readFile(file);
    return source === undefined ? undefined : ts.createSourceFile(file, source, version);
  };
  const program = ts.createProgram({
    rootNames: [path],
    options,
    host,
    ...(parsed.projectReferences ? { projectReferences: parsed.projectReferences } : {}),
  });
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || dirname(file.fileName) === folder)
    .map(({ code }) => `TS${code}`);
}

describe('the policy can’t reach outside: the compiler refuses', () => {
  test.each([
    ['node', "import { readFileSync } from 'node:fs'; export const x = readFileSync;", /TS(2307|2591)/],
    ['the process', 'export const x = process.env;', /TS(2304|2580|2591)/],
    ['timers', 'export const x = setTimeout(() => 0, 1);', /TS(2304|2583|2584)/],
    ['the console', 'console.log(1); export {};', /TS(2304|2584)/],
    ['the network', "export const x = fetch('x');", /TS(2304|2584)/],
    [
      'another library of ours',
      "import { keys } from '#store/keys'; export const x = keys;",
      /TS(6059|6307|2305|2307)/,
    ],
  ])('%s', (_what, text, code) => {
    expect(complaintsOf(text).join(' ')).toMatch(code);
  });

  test('and accepts what is pure', () => {
    expect(
      complaintsOf(
        "import { decide } from './decide.js'; import type { Task } from '#contract'; export const x = (task: Task) => decide(task, {}, { lanes: [], preference: { first: '', weightPoints: 0 }, pressure: { tight: 1, critical: 2, exhausted: 3 } });",
      ),
    ).toEqual([]);
  });
});

test('no file of the policy reads a clock or chance, or imports anything but the contract', () => {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )) {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text, name).not.toMatch(/Date\.now|Math\.random|new Date\(\)|performance\.|crypto/);
    for (const [, from] of text.matchAll(/from '([^']+)'/g))
      expect(from, name).toMatch(/^(#contract(\/[a-z-]+)?|\.{1,2}\/[a-z-/]+\.js)$/);
  }
});
