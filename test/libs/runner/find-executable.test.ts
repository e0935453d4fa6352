import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findExecutable } from '#runner';
import { tempFolder } from '../../support/temp.js';

test('the first executable file of the name in the given PATH is found, as an absolute path', () => {
  const [first, second] = [tempFolder('bin'), tempFolder('bin')];
  mkdirSync(join(first, 'codex'));
  writeFileSync(join(first, 'claude'), '', { mode: 0o644 });
  for (const name of ['codex', 'claude']) writeFileSync(join(second, name), '', { mode: 0o755 });
  symlinkSync(join(second, 'codex'), join(second, 'linked'));
  const path = `${first}:/no/such/folder:${second}`;
  expect(findExecutable('codex', path)).toBe(join(second, 'codex'));
  expect(findExecutable('claude', path)).toBe(join(second, 'claude'));
  expect(findExecutable('linked', path)).toBe(join(second, 'linked'));
  expect(findExecutable('gemini', path)).toBeNull();
});

test('the current folder is never looked in', () => {
  for (const path of ['', ':', '.', './bin:', 'node_modules/.bin']) expect(findExecutable('tsc', path)).toBeNull();
  expect(findExecutable('./node_modules/.bin/tsc', '/usr/bin')).toBeNull();
  expect(findExecutable('', '/usr/bin')).toBeNull();
});

test('an absolute path is itself, if it can be executed', () => {
  expect(findExecutable('/bin/sh', '')).toBe('/bin/sh');
  expect(findExecutable('/bin', '/bin')).toBeNull();
  expect(findExecutable('/bin/no-such-command', '/bin')).toBeNull();
});
