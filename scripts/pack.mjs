// What `npm pack` and `npm publish` call around the packing. The programs in dist hold their packages, so the one that
// is packed names none: installing it asks no registry for anything,
// and can't get another version than the one that was tested.
//   node scripts/pack.mjs prepack    builds what is old, and puts the packed package.json in place
//   node scripts/pack.mjs postpack   puts ours back
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfChanged } from './setup/bundle.mjs';
import { say } from './setup/command.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILE = join(root, 'package.json');
const KEPT = join(root, '.cache', 'package.json');
/** Everything else is for working on it. */
const PACKED = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'bin',
  'files',
  'private',
  'repository',
  'homepage',
  'bugs',
  'keywords',
  'author',
];

export function packedPackage(full) {
  return Object.fromEntries(PACKED.filter((key) => Object.hasOwn(full, key)).map((key) => [key, full[key]]));
}

async function prepack() {
  const failed = await buildIfChanged(root);
  if (failed) throw new Error(failed);
  const text = readFileSync(FILE, 'utf8');
  const full = JSON.parse(text);
  // A packing that was killed half-way has left its own in place.
  if (!Object.hasOwn(full, 'devDependencies')) return;
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(KEPT, text);
  replace(`${JSON.stringify(packedPackage(full), null, 2)}\n`);
}

function postpack() {
  if (existsSync(KEPT)) replace(readFileSync(KEPT, 'utf8'));
}

function replace(text) {
  writeFileSync(`${FILE}.new`, text);
  renameSync(`${FILE}.new`, FILE);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , when] = process.argv;
  if (when === 'prepack') await prepack();
  else if (when === 'postpack') postpack();
  else {
    say('usage: node scripts/pack.mjs prepack|postpack');
    process.exitCode = 2;
  }
}
