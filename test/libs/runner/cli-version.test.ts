import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cliVersion } from '#runner/cli-version';
import { isAlive } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

const env = { PATH: '/usr/bin:/bin' };

function cli(script: string): { path: string; ledger: string } {
  const folder = tempFolder('version');
  const ledger = join(folder, 'ledger');
  writeFileSync(join(folder, 'cli'), `#!/bin/sh\necho asked >>'${ledger}'\n${script}\n`, { mode: 0o755 });
  return { path: join(folder, 'cli'), ledger };
}

test('the version is what both CLIs print, with its own environment only, and is asked once for each state of the file', async () => {
  const { path, ledger } = cli('echo "codex-cli 0.171.0 $1 ${HOME-no home}"');
  expect(await cliVersion(path, { env })).toEqual({ ok: true, version: '0.171.0' });
  expect(await cliVersion(path, { env })).toEqual({ ok: true, version: '0.171.0' });
  expect(readFileSync(ledger, 'utf8')).toBe('asked\n');
  writeFileSync(path, '#!/bin/sh\necho "2.1.332 (Claude Code)" "$HOME"\n');
  expect(await cliVersion(path, { env })).toEqual({ ok: true, version: '2.1.332' });
});

test('a failure is said, and asked again', async () => {
  const { path, ledger } = cli('exit 3');
  for (let turn = 0; turn < 2; turn++)
    expect(await cliVersion(path, { env })).toMatchObject({
      ok: false,
      why: expect.stringContaining('exit code 3') as string,
    });
  expect(readFileSync(ledger, 'utf8')).toBe('asked\nasked\n');
  expect(await cliVersion(cli('echo hello').path, { env })).toEqual({ ok: false, why: 'it says no version: hello' });
  expect(await cliVersion('/no/such/cli', { env })).toEqual({ ok: false, why: '/no/such/cli is not there' });
});

test('one that hangs is ended, with the child that holds its output', async () => {
  const { path, ledger } = cli('');
  writeFileSync(path, `#!/bin/sh\nsleep 1000 & echo $! >'${ledger}'\nwait\n`);
  expect(await cliVersion(path, { env, boundMs: 300 })).toEqual({ ok: false, why: 'no answer within 300 ms' });
  const child = Number(readFileSync(ledger, 'utf8'));
  await waitUntil(() => !isAlive(child), { what: 'the child to leave' });
});
