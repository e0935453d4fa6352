import { existsSync, rmSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { daemonLockPath } from '#daemon/client/look-for-daemon';
import { take } from '#runner/lock-file';
import { isAlive, waitGone } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';
import { openHome, type Home } from './home.js';

let home: Home;
afterEach(() => home.close());

test('a lock that is removed under its daemon is written again, so no second daemon starts beside it', async () => {
  home = openHome();
  const { pid } = await home.ready();
  rmSync(daemonLockPath(home.paths));
  await waitUntil(() => existsSync(daemonLockPath(home.paths)), { what: 'the lock to come back' });
  expect(await home.ready()).toMatchObject({ pid, started: false });
});

test('a daemon whose place another one has taken leaves, and its runs go on', async () => {
  home = openHome();
  const { pid } = await home.ready();
  rmSync(daemonLockPath(home.paths));
  const other = await take(daemonLockPath(home.paths), { phase: 'starting' });
  if (!other.taken) throw new Error('the daemon was quicker');
  await waitGone(pid);
  expect(home.redisPids().every(isAlive)).toBe(true);
  expect(existsSync(daemonLockPath(home.paths))).toBe(true);
  await other.release();
  expect(await home.ready()).toMatchObject({ started: true });
});
