import type { Log } from '#api';
import { makeOwnFolder, type Paths } from '#config';
import { errorBody, VERSION, type ErrorBody } from '#contract';
import { readLock, take } from '#runner/lock-file';
import { daemonLockPath } from './client/look-for-daemon.js';
import { keepPlace, type KeptPlace } from './kept-place.js';
import { noteKilled } from './last-end.js';
import type { Life } from './life.js';

export type HeldFolder =
  | { ok: true; place: KeptPlace }
  /** `other`: a daemon of this folder is at work, which is no failure of this folder's. */
  | { ok: false; error: ErrorBody; other: boolean };

/** Makes the folders of a daemon and takes daemon.lock, so that one daemon at a time works on them. */
export async function holdStateFolder(paths: Paths, life: Life, log: Log): Promise<HeldFolder> {
  const problem = folderProblemOf(paths);
  if (problem) return { ok: false, error: problem, other: false };
  const path = daemonLockPath(paths);
  const before = await readLock(path);
  const lock = await take(path, { phase: 'starting', version: VERSION });
  if (!lock.taken) {
    const pid = lock.owner.identity?.pid ?? 'unknown';
    return {
      ok: false,
      error: errorBody('CMO_E_DAEMON', `another daemon holds the state folder (pid ${pid})`),
      other: true,
    };
  }
  noteKilled(paths.state, before);
  const place = keepPlace(path, lock, log, (pid) => {
    log.error({ pid }, 'another daemon has taken the state folder');
    void life.stop({ kill: false, keepRedis: true, why: 'another daemon has taken the state folder', again: true });
  });
  life.onLeave('daemon.lock', () => place.release());
  return { ok: true, place };
}

function folderProblemOf(paths: Paths): ErrorBody | null {
  for (const folder of [paths.state, paths.redis, paths.runs, paths.blobs, paths.receipts, paths.logs, paths.sockets]) {
    const problem = makeOwnFolder(folder);
    if (problem !== null) return errorBody('CMO_E_STATE_FOLDER', `the folder ${folder} is not usable: ${problem}`);
  }
  return null;
}
