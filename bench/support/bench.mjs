// What the benches share: the sources bundled as the programs are, a
// folder and processes that go with the bench, rows with a verdict.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Removed when the bench leaves. */
export const folder = mkdtempSync(join(tmpdir(), 'cmo-bench-'));
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Bundles TypeScript given as text (`#gate`, './test/support/audit.ts'); its file's path. */
export async function bundle(name, contents) {
  const outfile = join(folder, `${name}.mjs`);
  const require =
    "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    ...{
      absWorkingDir: root,
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['cmo-source'],
    },
    ...{ loader: { '.lua': 'text', '.sh': 'text' }, banner: { js: require }, logLevel: 'warning' },
    // What the bundled files look for beside themselves lies where their sources lie.
    plugins: [{ name: 'own-place', setup: (api) => api.onLoad({ filter: /\/test\/.*\.ts$/ }, ownPlace) }],
  });
  return outfile;
}

/** `import.meta.url` of a test's helper names the helper, not the bundle. */
async function ownPlace({ path }) {
  const { readFile } = await import('node:fs/promises');
  return {
    contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    loader: 'ts',
  };
}

export async function load(name, contents) {
  return import(pathToFileURL(await bundle(name, contents)).href);
}

/**
 * A process of a bundled file, ready when it prints a line; `left`
 * resolves with what else it printed, and fails with its code.
 */
export async function startChild(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  let printed = '';
  let sayReady;
  const ready = new Promise((resolve) => (sayReady = resolve));
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
    if (printed.includes('\n')) sayReady();
  });
  const left = new Promise((resolve, reject) => {
    child.once('close', (code) => {
      children.delete(child);
      if (code === 0) resolve(printed.slice(printed.indexOf('\n') + 1));
      else reject(new Error(`a client left with ${code}`));
    });
  });
  await Promise.race([ready, left]);
  return { pid: child.pid, left };
}

/** What must hold on any box: counts and order. A `false` is the exit code of the bench. */
export function must(what, seen, ok) {
  if (!ok) process.exitCode = 1;
  console.log(`${ok ? 'ok  ' : 'BAD '} ${what.padEnd(52)} ${seen}`);
}

/**
 * A time or a size: `over` its budget is told, and nothing more,
 * since others may be using the box. `ok` null: it has none.
 */
export function row(what, seen, ok = null) {
  console.log(`${ok === null ? '    ' : ok ? 'ok  ' : 'over'} ${what.padEnd(52)} ${seen}`);
}

export function heading(text) {
  console.log(
    `${text} (load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}, Node ${process.versions.node})`,
  );
}

export function quantile(list, share) {
  return [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)];
}

export const median = (list) => quantile(list, 0.5);
