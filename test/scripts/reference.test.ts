import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERRORS } from '#contract';
import { SCHEMAS } from '#contract/schemas/index';
import { answerCheck } from '#vendors';
import { referenceFiles } from '../../scripts/reference.mjs';

const folder = new URL('../../docs/reference/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

test('docs/reference is what scripts/reference.mjs makes of the code', async () => {
  const files = await referenceFiles();
  expect(readdirSync(folder).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files)
    expect(read(name) === text, `${name} is out of date: run node scripts/reference.mjs`).toBe(true);
});

test('every published form is a JSON Schema of 2020-12', async () => {
  for (const name of [...Object.keys(SCHEMAS), 'config']) {
    const schema = JSON.parse(read(`${name}.schema.json`)) as { $schema: string };
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(await answerCheck(schema), name).toMatchObject({ ok: true });
  }
});

test('every error has its row, a message, what to do, and an exit code of the table', () => {
  const page = read('errors.md');
  const codes = new Set([...read('exit-codes.md').matchAll(/^\| `(\d+)`/gm)].map(([, code]) => Number(code)));
  for (const [code, { message, exit, fix }] of Object.entries(ERRORS)) {
    expect(page).toContain(`| \`${code}\` | ${message}`);
    expect(codes, code).toContain(exit);
    if (code !== 'CMO_E_INTERRUPTED') expect(fix.length, code).toBeGreaterThan(5);
  }
});
