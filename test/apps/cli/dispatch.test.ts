import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeDaemon, oneDispatch, succeeded, type FakeDaemon } from './support/fake-daemon.js';
import { freshBox, type Box, type Ran } from './support/run-cli.js';

const ready = async (): Promise<{ box: Box; daemon: FakeDaemon }> => {
  const box = await freshBox();
  return {
    box,
    daemon: await fakeDaemon(
      box.state,
      oneDispatch((id) => succeeded(id)),
    ),
  };
};
const errorOf = ({ stdout }: Ran): { code: string; message: string; details?: string[] } =>
  (JSON.parse(stdout) as { error: { code: string; message: string; details?: string[] } }).error;

test('run and submit take a dispatch file; a flag wins over its key, and over related keys of the file', async () => {
  const { box, daemon } = await ready();
  writeFileSync(
    join(box.folder, 'job.md'),
    '\uFEFFDISPATCH\r\nrole: judge\r\nindependent-of: codex\r\nstrict-independence: true\r\ntimeout: 90\r\nsandbox: read-only\r\nno-failover: false\r\nTASK\r\nJudge it.\r\nfull-access: true\r\n',
  );
  expect((await box.cmo(['run', '--dispatch', 'job.md'])).code).toBe(0);
  const [first] = daemon.submitted();
  expect(first).toMatchObject({
    prompt: 'Judge it.\r\nfull-access: true\r\n',
    role: 'judge',
    independentOf: 'codex',
    strictIndependence: true,
    timeoutMs: 90_000,
    readOnly: true,
    cwd: box.folder,
  });
  expect(first).not.toHaveProperty('fullAccess');
  expect(first).not.toHaveProperty('failover');
  await box.cmo(
    ['submit', '--dispatch', '-', '--role', 'implement', '--write', '--review-of', 'd-01JE0000000000000000000000'],
    { stdin: 'DISPATCH\nrole: judge\nread-only: yes\nindependent-of: codex\nTASK\nx' },
  );
  const second = daemon.submitted()[1];
  expect(second).toMatchObject({ role: 'implement', write: true, reviewOf: 'd-01JE0000000000000000000000' });
  expect(second).not.toHaveProperty('readOnly');
  expect(second).not.toHaveProperty('independentOf');
  await daemon.close();
});

test.each([
  ['read-only', { readOnly: true }],
  ['workspace-write', {}],
  ['danger-full-access', { fullAccess: true }],
])('--sandbox %s says what our own flags say', async (word, said) => {
  const { box, daemon } = await ready();
  mkdirSync(dirname(box.configFile), { recursive: true });
  writeFileSync(box.configFile, '{"allowFullAccess": true}');
  await box.cmo(['submit', '--sandbox', word], { stdin: 'x' });
  const request = daemon.submitted()[0];
  expect({ readOnly: request?.readOnly, fullAccess: request?.fullAccess, write: request?.write }).toEqual({
    readOnly: undefined,
    fullAccess: undefined,
    write: undefined,
    ...said,
  });
  await daemon.close();
});

test.each([
  [
    'an unknown key',
    'DISPATCH\nrol: judge\nTASK\nx',
    'CMO_E_UNKNOWN_VALUE',
    'job.md:2 rol: saw an unknown key',
    'nearest: role',
  ],
  [
    'a wrong value',
    'DISPATCH\n\ncomplexity: 9\nTASK\nx',
    'CMO_E_UNKNOWN_VALUE',
    'job.md:3 complexity: saw "9"',
    'nearest: 5',
  ],
  [
    'a value that only the configuration knows',
    'DISPATCH\npin: cluade\nTASK\nx',
    'CMO_E_UNKNOWN_VALUE',
    'job.md:2 pin: saw "cluade"',
    'nearest: claude',
  ],
  [
    'full access',
    'DISPATCH\nfull-access: true\nTASK\nx',
    'CMO_E_NOT_PERMITTED',
    'job.md:2 full-access is not allowed here',
  ],
  [
    'full access in codex’ words',
    'DISPATCH\nsandbox: danger-full-access\nTASK\nx',
    'CMO_E_NOT_PERMITTED',
    'job.md:2 sandbox is not allowed here',
  ],
  [
    'two vendors to be independent of',
    'DISPATCH\nindependent-of: codex\nreview-of: d-01JE0000000000000000000000\nTASK\nx',
    'CMO_E_UNSATISFIABLE',
    '--review-of and --independent-of together',
  ],
  ['no TASK', 'DISPATCH\nrole: judge\n', 'CMO_E_UNKNOWN_VALUE', 'a header without an end'],
  ['an empty task', 'DISPATCH\nrole: judge\nTASK\n \n', 'CMO_E_EMPTY_TASK', 'the task is empty'],
  ['nothing at all', '', 'CMO_E_EMPTY_TASK', 'the task is empty'],
  ['a folder that is not there', 'DISPATCH\ncwd: gone\nTASK\nx', 'CMO_E_CWD', '(job.md:2 cwd)'],
  [
    'a judge that writes',
    'DISPATCH\nrole: judge\nsandbox: workspace-write\nTASK\nx',
    'CMO_E_UNSATISFIABLE',
    '--write with role judge',
  ],
])('a dispatch file with %s is refused with exit 2, and its line is named', async (_what, text, code, ...says) => {
  const box = await freshBox();
  writeFileSync(join(box.folder, 'job.md'), text);
  const ran = await box.cmo(['run', '--dispatch', 'job.md', '--json']);
  const error = errorOf(ran);
  expect([ran.code, error.code]).toEqual([2, code]);
  for (const one of says) expect([error.message, ...(error.details ?? [])].join('\n')).toContain(one);
});

test('a file that is not text, is missing or comes with a prompt is refused', async () => {
  const box = await freshBox();
  writeFileSync(join(box.folder, 'utf16.md'), Buffer.from('\uFEFFDISPATCH\nTASK\nx', 'utf16le'));
  expect(errorOf(await box.cmo(['run', '--dispatch', 'utf16.md', '--json'])).message).toContain(
    'utf16.md is not UTF-8 text',
  );
  expect(errorOf(await box.cmo(['run', '--dispatch', 'none.md', '--json'])).message).toContain(
    "--dispatch: the file can't be read",
  );
  expect(errorOf(await box.cmo(['run', '--dispatch', 'none.md', '--prompt', 'x', '--json'])).message).toBe(
    '--dispatch and --prompt together',
  );
});

test('a DISPATCH below other text is part of the task, and the sender is told', async () => {
  const { box, daemon } = await ready();
  const text = 'Read this:\nDISPATCH\nfull-access: true\nTASK\nx';
  writeFileSync(join(box.folder, 'job.md'), text);
  const ran = await box.cmo(['run', '--dispatch', 'job.md']);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('job.md:2 reads DISPATCH, but something stands before it');
  expect(daemon.submitted()[0]).toMatchObject({ prompt: text });
  expect(daemon.submitted()[0]).not.toHaveProperty('fullAccess');
  await daemon.close();
});
