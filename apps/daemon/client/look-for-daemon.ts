import { join } from 'node:path';
import type { Paths } from '#config';
import { readLock } from '#runner/lock-file';
import { isAlive, type ProcessIdentity } from '#runner/process-identity';

/**
 * daemon.lock names the one daemon of a state folder, and what it says of itself: its phase, the socket it listens on
 * and its version. The socket's path depends on the environment it was started in, so it is read here, not derived.
 *
 *   starting ──▶ ready ──▶ stopping ──▶ (no lock)
 */
export type DaemonPhase = 'starting' | 'ready' | 'stopping';

export type DaemonSeen =
  | { kind: 'none' }
  | { kind: 'busy'; phase: 'starting' | 'stopping'; daemon: ProcessIdentity }
  | {
      kind: 'ready';
      daemon: ProcessIdentity;
      socket: string;
      version: string;
      protocol: number | null;
      /** The file it was started from, when a service of the box runs it: such a one comes back when it leaves. */
      serviceProgram: string | null;
    };

export function daemonLockPath(paths: Pick<Paths, 'state'>): string {
  return join(paths.state, 'daemon.lock');
}

export async function lookForDaemon(paths: Pick<Paths, 'state'>): Promise<DaemonSeen> {
  const lock = await readLock(daemonLockPath(paths));
  if (!lock?.identity || !isAlive(lock.identity)) return { kind: 'none' };
  const { phase, socket, version, protocol, program, service } = lock.fields;
  if (phase === 'ready' && typeof socket === 'string' && typeof version === 'string') {
    return {
      kind: 'ready',
      daemon: lock.identity,
      socket,
      version,
      protocol: typeof protocol === 'number' ? protocol : null,
      serviceProgram: service === true && typeof program === 'string' ? program : null,
    };
  }
  return { kind: 'busy', phase: phase === 'stopping' ? 'stopping' : 'starting', daemon: lock.identity };
}
