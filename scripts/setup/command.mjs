// Running other programs: never through a shell, always with their words on our own terminal.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The program's full path on PATH, or null. */
export function findOnPath(name, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter)) {
    const file = join(folder || '.', name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not here: the next folder.
    }
  }
  return null;
}

/** Waits for the program and answers its exit code (128 for one that a signal ended, 127 for one that isn't there). */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    child.once('error', () => resolve(127));
    child.once('exit', (code) => resolve(code ?? 128));
  });
}

/** As `run`, but its output goes to stderr: stdout belongs to whoever called us. */
export function runQuietly(command, args, options = {}) {
  return run(command, args, { stdio: ['ignore', 2, 2], ...options });
}

/** How npm itself is started: the one that started us, else the one on PATH. */
export function npmCommand() {
  const own = process.env.npm_execpath;
  return own && /npm-cli\.c?js$/.test(own) ? [process.execPath, [own]] : ['npm', []];
}

export function answers(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Progress goes to stderr; stdout is for results. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}
