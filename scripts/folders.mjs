// The picture of ARCHITECTURE.md as data: which folder may import which. `node scripts/folders.mjs --write`
// regenerates each folder's tsconfig.json, the `imports` map of package.json and the table in ARCHITECTURE.md from
// it; the suite checks that they are up to date, so the boundaries can't drift by hand-editing one of the copies.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFolderTable } from './architecture.mjs';

const root = new URL('..', import.meta.url).pathname;

/** folder → { imports: folders it may import, node: whether Node's types exist there } */
export const FOLDERS = {
  'libs/contract': { imports: [], node: false },
  'libs/policy': { imports: ['libs/contract'], node: false },
  'libs/config': { imports: ['libs/contract'], node: true },
  'libs/store': { imports: ['libs/contract'], node: true },
  'libs/gate': { imports: ['libs/contract', 'libs/store'], node: true },
  'libs/queue': { imports: ['libs/contract', 'libs/store', 'libs/gate'], node: true },
  'libs/probes': { imports: ['libs/contract'], node: true },
  'libs/vendors': { imports: ['libs/contract', 'libs/policy'], node: true },
  'libs/runner': { imports: ['libs/contract'], node: true },
  'libs/receipts': { imports: ['libs/contract', 'libs/store'], node: true },
  'apps/worker': {
    imports: [
      'libs/contract',
      'libs/policy',
      'libs/config',
      'libs/store',
      'libs/gate',
      'libs/queue',
      'libs/probes',
      'libs/vendors',
      'libs/runner',
      'libs/receipts',
    ],
    node: true,
  },
  'apps/api': {
    imports: [
      'libs/contract',
      'libs/policy',
      'libs/config',
      'libs/store',
      'libs/gate',
      'libs/queue',
      'libs/vendors',
      'libs/receipts',
      'libs/runner',
    ],
    node: true,
  },
  'apps/daemon': {
    imports: [
      'libs/contract',
      'libs/config',
      'libs/store',
      'libs/gate',
      'libs/queue',
      'libs/vendors',
      'libs/runner',
      'libs/receipts',
      'apps/api',
      'apps/worker',
    ],
    node: true,
  },
  'apps/cli': {
    imports: [
      'libs/contract',
      'libs/policy',
      'libs/config',
      'libs/probes',
      'libs/vendors',
      'libs/runner',
      'libs/receipts',
      'apps/daemon',
    ],
    node: true,
  },
};

const short = (folder) => `#${folder.split('/')[1]}`;

export function tsconfigOf(folder) {
  const { imports, node } = FOLDERS[folder];
  const up = folder
    .split('/')
    .map(() => '..')
    .join('/');
  return (
    JSON.stringify(
      {
        extends: `${up}/tsconfig.base.json`,
        compilerOptions: { rootDir: '.', outDir: `${up}/dist/types/${folder}`, types: node ? ['node'] : [] },
        include: ['**/*.ts', ...(node ? [`${up}/text-modules.d.ts`] : [])],
        references: imports.map((to) => ({ path: `${up}/${to}` })),
      },
      null,
      2,
    ) + '\n'
  );
}

export function importsMap() {
  const map = {};
  for (const folder of Object.keys(FOLDERS)) {
    const types = `./dist/types/${folder}`;
    map[short(folder)] = { 'cmo-source': `./${folder}/index.ts`, default: `${types}/index.js` };
    map[`${short(folder)}/*`] = { 'cmo-source': `./${folder}/*.ts`, default: `${types}/*.js` };
  }
  return map;
}

if (process.argv.includes('--write')) {
  for (const folder of Object.keys(FOLDERS)) writeFileSync(join(root, folder, 'tsconfig.json'), tsconfigOf(folder));
  const path = join(root, 'package.json');
  const pkg = JSON.parse(readFileSync(path, 'utf8'));
  pkg.imports = importsMap();
  writeFileSync(path, JSON.stringify(pkg, null, 2) + '\n');
  const page = join(root, 'ARCHITECTURE.md');
  writeFileSync(page, withFolderTable(readFileSync(page, 'utf8'), FOLDERS));
}
