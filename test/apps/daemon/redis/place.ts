import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readLock } from '#runner/lock-file';
import type { RedisOptions } from '#daemon/redis/private-redis';
import { serversOnFolder } from '#daemon/redis/servers-on-folder';
import { killNow } from '../../../support/processes.js';
import { removeFolder, tempFolder } from '../../../support/temp.js';
import { onLeave } from '../../../support/on-leave.js';
import { findExecutable } from '#runner/find-executable';

export type TestPlace = RedisOptions & {
  state: string;
  heard: string[];
  servers(): number[];
  lockedPid(): Promise<number | undefined>;
  close(): Promise<void>;
};

/** A state folder for a private Redis, and short patience. */
export function testPlace(change: Partial<RedisOptions> = {}): TestPlace {
  const state = tempFolder('priv');
  for (const name of ['redis', 'logs', 'sockets']) mkdirSync(join(state, name), { mode: 0o700 });
  const place = {
    folder: join(state, 'redis'),
    socket: join(state, 'sockets', 'redis.sock'),
    log: join(state, 'logs', 'redis.log'),
    lock: join(state, 'redis.lock'),
  };
  const heard: string[] = [];
  const hear = (_fields: object, message: string): void => void heard.push(message);
  const servers = (): number[] => serversOnFolder(place.folder);
  onLeave(() => servers().forEach((pid) => process.kill(pid, 'SIGKILL')));
  return {
    place,
    state,
    heard,
    program: findExecutable('redis-server', process.env['PATH'] ?? ''),
    env: { PATH: process.env['PATH'] ?? '' },
    patience: { startMs: 10_000, loadingMs: 20_000, quietMs: 500, leaveMs: 10_000 },
    log: { debug: hear, info: hear, warn: hear, error: hear },
    servers,
    lockedPid: async () => (await readLock(place.lock))?.identity?.pid,
    async close() {
      // A killed server's child that rewrites its file is seen once it is an orphan.
      for (let left = servers(); left.length > 0; left = servers()) for (const pid of left) await killNow(pid);
      removeFolder(state);
    },
    ...change,
  };
}
