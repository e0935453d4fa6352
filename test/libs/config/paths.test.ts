import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderProblem, makeOwnFolder, pathsOf, SOCKET_PATH_BYTES } from '#config';
import { tempFolder } from '../../support/temp.js';

const box = { home: '/home/me', temp: '/tmp' };

test('folders follow the XDG base directories, and ours outrank them', () => {
  expect(pathsOf({}, box)).toMatchObject({
    state: '/home/me/.local/state/cross-model-orchestrate',
    configFile: '/home/me/.config/cross-model-orchestrate/config.json',
    cache: '/home/me/.cache/cross-model-orchestrate',
  });
  expect(pathsOf({ XDG_STATE_HOME: '/s', XDG_CONFIG_HOME: '/c', XDG_CACHE_HOME: '/k' }, box)).toMatchObject({
    state: '/s/cross-model-orchestrate',
    config: '/c/cross-model-orchestrate',
    cache: '/k/cross-model-orchestrate',
  });
  expect(
    pathsOf({ XDG_STATE_HOME: '/s', CMO_STATE_DIR: '/own', CMO_CONFIG_DIR: '/conf', CMO_CACHE_DIR: '/k' }, box),
  ).toMatchObject({
    state: '/own',
    configFile: '/conf/config.json',
    cache: '/k',
    runs: '/own/runs',
    apiSocket: '/own/sockets/api.sock',
  });
});

test('a relative or empty XDG folder is ignored', () => {
  expect(pathsOf({ XDG_STATE_HOME: 'rel', XDG_CONFIG_HOME: '' }, box)).toMatchObject({
    state: '/home/me/.local/state/cross-model-orchestrate',
    config: '/home/me/.config/cross-model-orchestrate',
  });
});

test('sockets move to a short folder when their path would not fit, another one for each state folder', () => {
  const long = `/${'a'.repeat(80)}`;
  const [first, second] = [pathsOf({ CMO_STATE_DIR: `${long}/1` }, box), pathsOf({ CMO_STATE_DIR: `${long}/2` }, box)];
  expect(first.sockets).toMatch(/^\/tmp\/cmo-[0-9a-f]{16}$/);
  expect(second.sockets).not.toBe(first.sockets);
  expect(pathsOf({ CMO_STATE_DIR: `${long}/1`, XDG_RUNTIME_DIR: '/run/user/1' }, box).sockets).toMatch(
    /^\/run\/user\/1\/cmo-/,
  );
  for (let length = 1; length < 120; length++) {
    const { apiSocket, redisSocket } = pathsOf({ CMO_STATE_DIR: `/${'ä'.repeat(length)}` }, box);
    expect(Math.max(Buffer.byteLength(apiSocket), Buffer.byteLength(redisSocket))).toBeLessThanOrEqual(
      SOCKET_PATH_BYTES,
    );
  }
});

test('a folder that others could read, or that a link leads to, is not ours', () => {
  const folder = tempFolder('own');
  expect(makeOwnFolder(join(folder, 'a', 'b'))).toBeNull();
  expect(folderProblem(join(folder, 'none'))).toBe('it does not exist');
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o755);
  expect(makeOwnFolder(join(folder, 'open'))).toBe('others may enter it (mode 0755)');
  symlinkSync(join(folder, 'a'), join(folder, 'link'));
  expect(folderProblem(join(folder, 'link'))).toBe('it is a symbolic link');
});

test.skipIf(process.platform !== 'linux')(
  'a folder in a file system that makes none is told of, and is not tried for ever',
  () => {
    expect(makeOwnFolder('/proc/nobody/state')).toContain('nothing can be made in /proc');
  },
);
