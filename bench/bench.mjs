// `npm run bench -- NAME [ARGUMENTS]` runs bench/NAME.mjs; without a name it lists them by the first line of each.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const names = readdirSync(here)
  .filter((file) => file.endsWith('.mjs') && file !== 'bench.mjs')
  .map((file) => file.replace('.mjs', ''))
  .sort();
const [name, ...args] = process.argv.slice(2);

if (name !== undefined && names.includes(name)) {
  process.exitCode =
    spawnSync(process.execPath, [join(here, `${name}.mjs`), ...args], { stdio: 'inherit' }).status ?? 1;
} else {
  if (name !== undefined) console.error(`There is no bench called ${name}.`);
  for (const one of names) console.log(`${one.padEnd(10)} ${firstLine(one)}`);
  process.exitCode = name === undefined ? 0 : 2;
}

function firstLine(bench) {
  const [line] = readFileSync(join(here, `${bench}.mjs`), 'utf8').split('\n');
  return line.replace(/^\/\/ /, '').replace(/: `.*$/, '.');
}
