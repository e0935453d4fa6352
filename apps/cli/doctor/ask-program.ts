import { spawn } from 'node:child_process';

export type Told =
  | { kind: 'told'; exit: number | null; out: string; err: string }
  | { kind: 'silent' }
  | { kind: 'no-start'; why: string };

const MOST_BYTES = 64 * 1024;

/**
 * Asks a program something that costs nothing (its version, whether it is logged in): stdin closed, output capped,
 * ended with its whole group after a bound. A CLI that asks a question back on a terminal must not hold up doctor.
 */
export function askProgram(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  boundMs: number,
): Promise<Told> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let out = '';
    let err = '';
    const end = (signal: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // It has left.
      }
    };
    const bound = setTimeout(() => {
      end('SIGTERM');
      setTimeout(() => end('SIGKILL'), 1000).unref();
      resolve({ kind: 'silent' });
    }, boundMs);
    child.stdout.on('data', (chunk: Buffer) => {
      if (out.length < MOST_BYTES) out += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (err.length < MOST_BYTES) err += chunk.toString('utf8');
    });
    child.once('error', (error) => {
      clearTimeout(bound);
      resolve({ kind: 'no-start', why: error.message });
    });
    child.once('close', (exit) => {
      clearTimeout(bound);
      resolve({ kind: 'told', exit, out, err });
    });
  });
}
