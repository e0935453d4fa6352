import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ErrorBody } from '#contract';
import { processesOf } from '../support/processes.js';
import { openFlow, type FlowBox } from './flow-box.js';

let box: FlowBox;
beforeEach(() => {
  box = openFlow();
});
afterEach(() => box.close());

/** Every file below a folder, but for logs: those tell what was tried. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(folder, 'logs')));
}

type Refusal = {
  what: string;
  args: string[];
  input?: string;
  before?: () => void;
  code: string;
  exit: number;
  says: RegExp;
};

const REFUSALS: Refusal[] = [
  { what: 'an empty task (echo | cmo run)', args: [], input: '\n', code: 'CMO_E_EMPTY_TASK', exit: 2, says: /empty/ },
  {
    what: 'a missing working directory',
    args: ['--cwd', '/nowhere/at/all'],
    code: 'CMO_E_CWD',
    exit: 2,
    says: /\/nowhere\/at\/all/,
  },
  { what: 'an unknown flag', args: ['--rolle', 'judge'], code: 'CMO_E_USAGE', exit: 2, says: /--role/ },
  { what: 'an unknown role', args: ['--role', 'jugde'], code: 'CMO_E_UNKNOWN_VALUE', exit: 2, says: /judge/ },
  {
    what: 'a prompt file without an end',
    args: ['--prompt-file', '/dev/zero'],
    code: 'CMO_E_USAGE',
    exit: 2,
    says: /16 MB/,
  },
  {
    what: 'a malformed config',
    args: [],
    before: () => writeFileSync(box.configFile, '{ "slots": { "acount": 3 }, }'),
    code: 'CMO_E_CONFIG',
    exit: 2,
    says: /config\.json/,
  },
  {
    what: 'a misspelt key in the config',
    args: [],
    before: () => writeFileSync(box.configFile, '{ "slots": { "acount": 3 } }'),
    code: 'CMO_E_CONFIG',
    exit: 2,
    says: /account/,
  },
  {
    what: 'a state folder that is a file',
    args: [],
    before: () => writeFileSync(box.stateDir, ''),
    code: 'CMO_E_STATE_FOLDER',
    exit: 5,
    says: /state/,
  },
  {
    what: 'a redis-server that cannot start',
    args: [],
    before: brokenRedis,
    code: 'CMO_E_REDIS',
    exit: 5,
    says: /exit code 1/,
  },
];

function brokenRedis(): void {
  const path = join(box.folder, 'bin', 'redis-server');
  writeFileSync(path, '#!/bin/sh\necho "no such thing today" >&2\nexit 1\n');
  chmodSync(path, 0o755);
}

test.each(REFUSALS.map((refusal) => [refusal.what, refusal] as const))(
  '%s is told with a code, its exit code and a way out, and leaves nothing behind',
  async (_what, { args, input = 'a task', before, code, exit, says }) => {
    before?.();
    const ran = await box.cmo(['run', ...args], { input });
    expect(ran).toMatchObject({ code: exit, signal: null });
    const { ok, error } = JSON.parse(ran.stdout) as { ok: boolean; error: ErrorBody };
    expect({ ok, code: error.code }).toEqual({ ok: false, code });
    expect([error.message, ...(error.details ?? [])].join('\n')).toMatch(says);
    expect(error.fix).not.toBe('');
    expect(ran.stdout + ran.stderr).not.toMatch(/^\s+at /m);

    // The same for a person, in words on stderr.
    const told = await box.cmo(['run', '--human', ...args], { input });
    expect(told).toMatchObject({ code: exit, stdout: '' });
    expect(told.stderr).toContain(code);
    expect(told.stderr).toMatch(says);

    expect(processesOf(box.folder)).toEqual([]);
    expect(filesBelow(box.stateDir).filter((path) => !path.endsWith('daemon.error.json'))).toEqual([]);
    expect(existsSync(box.paths.runs) ? readdirSync(box.paths.runs) : []).toEqual([]);
  },
);

test('once a Redis that could not start is repaired, the next run works normally', async () => {
  brokenRedis();
  expect((await box.cmo(['run'], { input: 'a task' })).code).toBe(5);
  rmSync(join(box.folder, 'bin', 'redis-server'));
  expect(await box.cmo(['run'], { input: 'a task' })).toMatchObject({ code: 0 });
});
