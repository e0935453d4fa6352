import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { onLeave } from '../../support/on-leave.js';
import { isAlive, killNow, signal } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

/** A process of its own, so that it can be killed. */
export type Child = {
  pid: number;
  kill(): Promise<void>;
  /** Its exit code, when it has left by itself. */ left: Promise<number | null>;
};

const root = new URL('../../../', import.meta.url).pathname;
const built = new Map<string, Promise<string>>();

/** Bundles a program of this folder as the real ones are bundled; once per test process. */
function bundle(name: string): Promise<string> {
  const outfile = join(tempFolder('child'), `${name}.mjs`);
  const require =
    "import { createRequire as childRequire } from 'node:module'; const require = childRequire(import.meta.url);";
  return build({
    absWorkingDir: root,
    entryPoints: [`test/libs/queue/${name}.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['cmo-source'],
    loader: { '.lua': 'text', '.sh': 'text' },
    banner: { js: require },
    logLevel: 'warning',
  }).then(() => outfile);
}

/** Starts `<name>.ts` with these arguments and waits until it prints a line with `ready`. */
export async function startChild(name: string, args: string[]): Promise<Child> {
  const file = built.get(name) ?? bundle(name);
  built.set(name, file);
  const child = spawn(process.execPath, [await file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} did not start`);
  onLeave(() => {
    if (isAlive(pid)) signal(pid, 'SIGKILL');
  });
  const left = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let printed = '';
  child.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString()));
  await waitUntil(() => printed.includes('ready'), { what: `${name} to be ready` });
  return { pid, left, kill: () => killNow(pid) };
}
