import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { tempFolder } from '../../../support/temp.js';
import { buildCli } from './build-cli.js';

export type Ran = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

export type Box = {
  folder: string;
  state: string;
  configFile: string;
  env: Record<string, string>;
  /** Runs `cmo` to its end; stdin is the given text, or at its end at once. */
  cmo(args: string[], options?: { stdin?: string | Buffer; env?: Record<string, string>; cwd?: string }): Promise<Ran>;
  /** Starts it and hands over the process; `ran` settles when it has left. */
  start(
    args: string[],
    options?: { stdin?: string; env?: Record<string, string> },
  ): { child: ChildProcess; ran: Promise<Ran>; stderr(): string };
};

const built = buildCli();

/** A home of its own with nothing in it, and an environment that holds nothing of this one's but PATH. */
export async function freshBox(): Promise<Box> {
  const { program } = await built;
  const folder = tempFolder('box');
  const state = join(folder, 'state');
  const config = join(folder, 'config');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    CMO_STATE_DIR: state,
    CMO_CONFIG_DIR: config,
    CMO_NODE_ID: 'box-1',
  };

  const start: Box['start'] = (args, options = {}) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: { ...env, ...options.env },
      stdio: 'pipe',
    });
    return collect(child, options.stdin ?? '');
  };
  return {
    folder,
    state,
    configFile: join(config, 'config.json'),
    env,
    start,
    cmo: (args, options = {}) => {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: options.cwd ?? folder,
        env: { ...env, ...options.env },
        stdio: 'pipe',
      });
      return collect(child, options.stdin ?? '').ran;
    },
  };
}

export function collect(
  child: ChildProcess,
  stdin: string | Buffer,
): { child: ChildProcess; ran: Promise<Ran>; stderr(): string } {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // A command that refuses its flags never reads stdin.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  const ran = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ran, stderr: () => stderr };
}
