import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp.js';

const ROOT = new URL('../../', import.meta.url).pathname;

/**
 * What an installation of this package holds, built from the sources
 * as they stand under another version. @returns its folder
 */
export function buildPackage(version: string): string {
  const folder = tempFolder('package');
  for (const name of ['apps', 'libs', 'scripts', 'package.json', 'text-modules.d.ts', 'tsconfig.base.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  change(join(folder, 'libs/contract/version.ts'), /VERSION = '[^']*'/, `VERSION = '${version}'`);
  change(join(folder, 'package.json'), /"version": "[^"]*"/, `"version": "${version}"`);
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/build.mjs')], { cwd: folder });
  if (status !== 0) throw new Error(`the build of version ${version} failed: ${stderr.toString()}`);
  return folder;
}

/** As npm does it: what was there before goes, then the new files come. `halfway` is called in between. */
export async function replacePackage(
  target: string,
  source: string,
  halfway: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  await halfway();
  mkdirSync(target, { recursive: true });
  for (const name of ['dist', 'package.json']) cpSync(join(source, name), join(target, name), { recursive: true });
}

function change(file: string, what: RegExp, to: string): void {
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(what, to);
  if (changed === text) throw new Error(`${file} holds no ${String(what)}`);
  writeFileSync(file, changed);
}
