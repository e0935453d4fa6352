import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withFolderTable } from '../../scripts/architecture.mjs';
import { FOLDERS, importsMap, tsconfigOf } from '../../scripts/folders.mjs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const parsed = (path: string): unknown => JSON.parse(read(path));

test("every folder's tsconfig is what scripts/folders.mjs makes of the picture", () => {
  for (const folder of Object.keys(FOLDERS))
    expect(parsed(`${folder}/tsconfig.json`), folder).toEqual(JSON.parse(tsconfigOf(folder)));
});

test('the imports map of package.json is the same picture', () => {
  expect((parsed('package.json') as { imports: unknown }).imports).toEqual(importsMap());
});

test('the root project builds every folder and the tests', () => {
  const { references } = parsed('tsconfig.json') as { references: { path: string }[] };
  expect(references.map(({ path }) => path).sort()).toEqual([...Object.keys(FOLDERS), 'test'].sort());
});

test('the picture has no cycle', () => {
  const visit = (folder: string, way: string[]): void => {
    expect(way, folder).not.toContain(folder);
    for (const next of FOLDERS[folder]?.imports ?? []) visit(next, [...way, folder]);
  };
  for (const folder of Object.keys(FOLDERS)) visit(folder, []);
});

test('the table of ARCHITECTURE.md is the same picture', () => {
  expect(withFolderTable(read('ARCHITECTURE.md'), FOLDERS)).toBe(read('ARCHITECTURE.md'));
});
