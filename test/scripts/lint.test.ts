import { readFileSync } from 'node:fs';
import { ESLint } from 'eslint';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

for (const file of ['test/fixtures/lint/pure/impure.ts', 'test/fixtures/lint/app/careless.ts']) {
  test(`the marked lines of ${file} are refused, and no other`, async () => {
    const marked = readFileSync(`${root}${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) => (line.endsWith('// error') || line.includes('{ // error') ? [index + 1] : []));
    const [result] = await new ESLint({ cwd: root, ignore: false }).lintFiles([file]);
    const refused = new Set(result?.messages.filter(({ severity }) => severity === 2).map(({ line }) => line));
    expect([...refused].sort((a, b) => a - b)).toEqual(marked);
  });
}
