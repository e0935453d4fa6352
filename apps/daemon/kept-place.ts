import { dirname } from 'node:path';
import type { Log } from '#api';
import { makeOwnFolder } from '#config';
import { readLock, take, type HeldLock, type LockFields } from '#runner/lock-file';
import { ownIdentity } from '#runner/process-identity';

/**
 * daemon.lock, once this daemon has it. Somebody may remove the file, or the whole state folder: a second daemon would
 * then be started beside this one, and each would take the socket from the other.
 *
 *   held ──(the file is gone)──▶ taken again ──▶ held
 *    └──(it names another daemon)──▶ lost: this one hands over
 */
export type KeptPlace = {
  update(fields: LockFields): Promise<void>;
  release(): Promise<void>;
};

const LOOK_MS = 2_000;

export function keepPlace(
  path: string,
  first: HeldLock,
  log: Log,
  onLost: (pid: number | null) => void,
  lookMs = LOOK_MS,
): KeptPlace {
  let lock = first;
  let told: LockFields | null = null;
  let work: Promise<void> = Promise.resolve();
  // One after the other: a look between the halves of an update would take it for somebody else's.
  const next = (step: () => Promise<void>): Promise<void> => (work = work.then(step, step));

  async function look(): Promise<void> {
    if (told === null) return;
    const owner = await readLock(path);
    const ours = ownIdentity();
    if (owner?.identity?.pid === ours.pid && owner.identity.ticks === ours.ticks) return;
    if (owner !== null && owner.identity !== null) return lost(owner.identity.pid);
    makeOwnFolder(dirname(path));
    const again = await take(path, told);
    if (!again.taken) return lost(again.owner.identity?.pid ?? null);
    lock = again;
    log.warn({ lock: path }, 'the lock of this daemon was removed by hand and made again');
  }

  function lost(pid: number | null): void {
    clearInterval(timer);
    onLost(pid);
  }

  const timer = setInterval(() => {
    next(look).catch((error: unknown) => log.warn({ err: error }, 'the lock of this daemon could not be looked at'));
  }, lookMs);
  timer.unref();

  return {
    update: (fields) =>
      next(async () => {
        told = fields;
        await lock.update(fields);
      }),
    async release() {
      clearInterval(timer);
      await next(() => lock.release());
    },
  };
}
