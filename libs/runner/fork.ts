import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { thrownMessage } from '#contract/thrown';

/** A program to start in a session of its own, so that it outlives us: its arguments and its whole environment. */
export type ForkRequest = { file: string; args: readonly string[]; env: Readonly<Record<string, string>> };

/** `exited` gives its exit code; null where a signal ended it. It may never settle when another process started it. */
export type Spawned = { ok: true; pid: number; exited: Promise<number | null> } | { ok: false; why: string };

export type Fork = (request: ForkRequest) => Promise<Spawned>;

/** Starts it from this process. Never throws for a start that fails. */
export async function forkHere({ file, args, env }: ForkRequest): Promise<Spawned> {
  try {
    return await spawnedAs(spawn(file, [...args], { detached: true, stdio: 'ignore', cwd: '/', env: { ...env } }));
  } catch (error) {
    return { ok: false, why: thrownMessage(error) };
  }
}

export async function spawnedAs(child: ChildProcess): Promise<Spawned> {
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (child.pid === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    return { ok: false, why: error.message };
  }
  child.on('error', () => {});
  child.unref();
  return { ok: true, pid: child.pid, exited };
}
