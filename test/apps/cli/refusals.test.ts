import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { COMMANDS } from '#cli/commands/table';
import { freshBox, type Box } from './support/run-cli.js';

/** Everything here is refused before a daemon is asked or started: nothing may be left behind. */
let box: Box;
beforeAll(async () => {
  box = await freshBox();
});

type Refused = {
  code: number | null;
  error: { code: string; message: string; details?: string[]; fix: string };
  stderr: string;
};

async function refused(args: string[], options: Parameters<Box['cmo']>[1] = {}): Promise<Refused> {
  const { code, stdout, stderr } = await box.cmo([...args, '--json'], options);
  const answer = JSON.parse(stdout) as { ok: boolean; error: Refused['error'] };
  expect(answer.ok).toBe(false);
  expect(existsSync(box.state)).toBe(false);
  expect(stderr).toContain(answer.error.code);
  return { code, error: answer.error, stderr };
}
const said = ({ error }: Refused): string => [error.message, ...(error.details ?? [])].join('\n');

/** flag, wrong value, what must be said of it: the value seen, what is allowed, the nearest where there is one. */
const WRONG: [command: string, flag: string, value: string, ...says: string[]][] = [
  ['run', '--prompt', '--write', '"--write"', 'a value: TEXT'],
  ['run', '--prompt-file', '', '""', 'the path of a file'],
  [
    'run',
    '--role',
    'jugde',
    '"jugde"',
    'mechanical, research, implement, review, synthesis, judge, architecture',
    'nearest: judge',
  ],
  ['run', '--complexity', '3.5', '"3.5"', 'a whole number 1..5', 'nearest: 4'],
  ['run', '--complexity', '6', '"6"', 'nearest: 5'],
  ['run', '--complexity', '', '""', 'a whole number 1..5'],
  ['run', '--length', 'xxl', '"xxl"', 'xs, s, m, l, xl', 'nearest: xl'],
  ['run', '--context-tokens', '-5', '"-5"', 'a whole number 0..', 'nearest: 0'],
  ['run', '--write', '=false', '"--write=false"', 'it takes no value'],
  ['run', '--read-only', '=1', 'it takes no value'],
  ['run', '--schema', '', '""', 'the path of a file'],
  ['run', '--independent-of', 'Codex', '"Codex"', 'codex, claude, openai, anthropic', 'nearest: codex'],
  ['run', '--strict-independence', '=yes', 'it takes no value'],
  ['run', '--pin', 'cluade', '"cluade"', 'codex, claude', 'nearest: claude'],
  ['run', '--model', 'a b', '"a b"', 'a model id'],
  ['run', '--cwd', '', '""', 'the path of a folder'],
  ['run', '--timeout', 'abc', '"abc"', 'a duration from 1s to 7d'],
  ['run', '--timeout', '0', '"0"', 'a duration'],
  ['run', '--timeout', '3000000', '"3000000"', 'a duration'],
  ['run', '--attempts', '0', '"0"', 'a whole number 1..', 'nearest: 1'],
  ['run', '--no-failover', '=0', 'it takes no value'],
  ['run', '--full-access', '=1', 'it takes no value'],
  ['run', '--retry-writes', '=1', 'it takes no value'],
  ['run', '--class', 'urgent', '"urgent"', 'interactive, normal, batch'],
  ['run', '--max-wait', '8 hours', '"8 hours"', 'or forever'],
  ['run', '--node', 'all', '"all"', 'allowed: any'],
  ['run', '--once', ' x', '" x"', 'one word of at most 200 characters'],
  ['run', '--not-before', 'tomorrow', '"tomorrow"', 'a time of day (03:00)'],
  ['run', '--ttl', 'soon', '"soon"', 'a duration from'],
  ['run', '--deadline', '25:00', '"25:00"', 'a date and time'],
  ['run', '--env', '1X=2', '"1X=2"', 'NAME or NAME=VALUE'],
  ['run', '--label', 'noequals', '"noequals"', 'NAME=TEXT'],
  ['run', '--dispatch', '', '""', 'the path of a file'],
  ['run', '--review-of', 'd-1', '"d-1"', 'the id of a dispatch: d- and 26 characters'],
  ['run', '--sandbox', 'workspace', '"workspace"', 'read-only, workspace-write, danger-full-access'],
  ['run', '--batch-name', 'a b', '"a b"', 'a name of at most 64 letters, digits, . _ and -'],
  ['run', '--exclusive', '=1', 'it takes no value'],
  ['run', '--refresh', '=1', 'it takes no value'],
  ['run', '--batch', '', '""', 'the path of a file or a folder'],
  ['run', '--json', '=1', 'it takes no value'],
  ['run', '--human', '=1', 'it takes no value'],
  ['wait', '--timeout', 'soon', '"soon"', 'a duration'],
  ['wait', '--batch', '../x', '"../x"', 'a name of at most 64'],
  ['result', '--batch', '', '""', 'a name of at most 64'],
  ['wait', '--human', '=1', 'it takes no value'],
  ['wait', '--json', '=1', 'it takes no value'],
  ['result', '--human', '=1', 'it takes no value'],
  ['result', '--json', '=1', 'it takes no value'],
  ['cancel', '--human', '=1', 'it takes no value'],
  ['cancel', '--json', '=1', 'it takes no value'],
  ['cancel', '--batch', '../x', '"../x"', 'a name of at most 64'],
  ['cancel', '--label', 'colour', '"colour"', 'NAME=TEXT'],
  ['cancel', '--state', 'quued', '"quued"', 'nearest: queued'],
  ['cancel', '--yes', '=1', 'it takes no value'],
  ['retry', '--batch', '../x', '"../x"', 'a name of at most 64'],
  ['retry', '--label', 'colour', '"colour"', 'NAME=TEXT'],
  ['retry', '--state', 'fialed', '"fialed"', 'nearest: failed'],
  ['retry', '--yes', '=1', 'it takes no value'],
  ['retry', '--max-wait', 'long', '"long"', 'or forever'],
  ['retry', '--human', '=1', 'it takes no value'],
  ['retry', '--json', '=1', 'it takes no value'],
  ['wait', '--format', 'json', '"json"', 'jsonl, dir', 'nearest: jsonl'],
  ['wait', '--out', '', '""', 'the path of a folder'],
  ['result', '--format', 'json', '"json"', 'jsonl, dir', 'nearest: jsonl'],
  ['result', '--out', '', '""', 'the path of a folder'],
  ['ls', '--label', 'colour', '"colour"', 'NAME=TEXT'],
  ['ls', '--lane', '', '""', 'a lane'],
  ['ls', '--project', '', '""', 'the name of a project'],
  ['ls', '--node', '', '""', 'the name of a node'],
  ['ls', '--class', 'urgent', '"urgent"', 'interactive, normal, batch'],
  ['ls', '--since', 'monday', '"monday"', 'how long ago'],
  ['ls', '--needs-look', '=1', 'it takes no value'],
  ['ls', '--batches', '=1', 'it takes no value'],
  ['gc', '--dry-run', '=1', 'it takes no value'],
  ['gc', '--human', '=1', 'it takes no value'],
  ['gc', '--json', '=1', 'it takes no value'],
  ['help', '--human', '=1', 'it takes no value'],
  ['help', '--json', '=1', 'it takes no value'],
  ['pause', '--all', '=1', 'it takes no value'],
  ['pause', '--reason', '', '""', 'one line of at most 200 characters'],
  ['pause', '--until', 'later', '"later"', 'a time of day (03:00)'],
  ['pause', '--human', '=1', 'it takes no value'],
  ['pause', '--json', '=1', 'it takes no value'],
  ['resume', '--all', '=1', 'it takes no value'],
  ['resume', '--human', '=1', 'it takes no value'],
  ['resume', '--json', '=1', 'it takes no value'],
  ['drain', '--reason', '', '""', 'one line'],
  ['drain', '--timeout', 'soon', '"soon"', 'a duration'],
  ['drain', '--human', '=1', 'it takes no value'],
  ['drain', '--json', '=1', 'it takes no value'],
  ['slots', '--account', 'codex', '"codex"', 'NAME=N'],
  ['slots', '--lane', 'codex=-1', '"codex=-1"', 'a whole number 0..10000, or default'],
  ['slots', '--node', '=3', 'NAME=N'],
  ['slots', '--dark', 'defualt', '"defualt"', 'a whole number 0..10000, or default', 'nearest: default'],
  ['slots', '--human', '=1', 'it takes no value'],
  ['slots', '--json', '=1', 'it takes no value'],
  ['ls', '--state', 'quued', '"quued"', 'queued, running, retrying', 'nearest: queued'],
  ['ls', '--batch', '', '""', 'the name of a batch'],
  ['ls', '--limit', '0', '"0"', 'a whole number 1..10000'],
  ['ls', '--human', '=1', 'it takes no value'],
  ['ls', '--json', '=1', 'it takes no value'],
  ['show', '--human', '=1', 'it takes no value'],
  ['show', '--json', '=1', 'it takes no value'],
  ['status', '--human', '=1', 'it takes no value'],
  ['status', '--json', '=1', 'it takes no value'],
  ['doctor', '--only', 'reddis', '"reddis"', 'node, state, config, redis', 'nearest: redis'],
  ['doctor', '--human', '=1', 'it takes no value'],
  ['doctor', '--json', '=1', 'it takes no value'],
  ['explain', '--json', '=1', 'it takes no value'],
  ['config', '--origin', '=1', 'it takes no value'],
  ['config', '--human', '=1', 'it takes no value'],
  ['config', '--json', '=1', 'it takes no value'],
  ['limits', '--refresh', '=1', 'it takes no value'],
  ['limits', '--line', '=1', 'it takes no value'],
  ['limits', '--human', '=1', 'it takes no value'],
  ['limits', '--json', '=1', 'it takes no value'],
  ['guard', '--lane', '', '""', 'the id of a lane'],
  ['guard', '--below', '0', '"0"', 'a whole number 1..100', 'nearest: 1'],
  ['guard', '--human', '=1', 'it takes no value'],
  ['guard', '--json', '=1', 'it takes no value'],
  ['logs', '--follow', '=1', 'it takes no value'],
  ['logs', '--raw', '=1', 'it takes no value'],
  ['logs', '--attempt', '0', '"0"', 'a whole number 1..'],
  ['logs', '--daemon', '=1', 'it takes no value'],
  ['logs', '--human', '=1', 'it takes no value'],
  ['logs', '--json', '=1', 'it takes no value'],
  ['replay', '--human', '=1', 'it takes no value'],
  ['replay', '--json', '=1', 'it takes no value'],
  ['selftest', '--human', '=1', 'it takes no value'],
  ['selftest', '--json', '=1', 'it takes no value'],
  ['up', '--human', '=1', 'it takes no value'],
  ['up', '--json', '=1', 'it takes no value'],
  ['service', '--by', 'upstart', '"upstart"', 'systemd, launchd, cron'],
  ['service', '--dry-run', '=1', 'it takes no value'],
  ['service', '--human', '=1', 'it takes no value'],
  ['service', '--json', '=1', 'it takes no value'],
  ['down', '--kill', '=1', 'it takes no value'],
  ['down', '--human', '=1', 'it takes no value'],
  ['down', '--json', '=1', 'it takes no value'],
];

test.each(WRONG)(
  'cmo %s %s %s is refused with exit 2, and says what is right',
  async (command, flag, value, ...says) => {
    const words = value.startsWith('=') ? [`${flag}${value}`] : [flag, value];
    const answer = await refused([command, ...words], { stdin: 'a task' });
    expect(answer.code).toBe(2);
    expect(answer.error.code).toMatch(/^CMO_E_(UNKNOWN_VALUE|USAGE)$/);
    for (const text of [flag, ...says]) expect(said(answer)).toContain(text);
  },
);

test('the table above walks every flag of every command', async () => {
  const walked = new Set(WRONG.map(([command, flag]) => `${command} ${flag}`));
  const missing: string[] = [];
  for (const entry of COMMANDS) {
    // submit and plan have the flags of run, from the same table.
    const { flags } = await entry.load();
    for (const { name } of Object.values(flags))
      if (!walked.has(`${['submit', 'plan'].includes(entry.name) ? 'run' : entry.name} ${name}`))
        missing.push(`${entry.name} ${name}`);
  }
  expect(missing).toEqual([]);
});

test.each([
  [['rnu'], 'nearest: run'],
  [['limits-now'], 'cmo has no command'],
  [['run', '--rol', 'judge'], 'nearest: --role'],
  [['ls', '--lmit=4'], 'nearest: --limit'],
  [['run', '-x'], 'cmo run has no flag -x'],
  [['run', 'do', 'this'], 'saw "do"; allowed: flags only'],
  [['run', 'do this'], "`cmo run --prompt 'the task'`"],
  [['run', '--role', 'judge', '--role', 'review'], '--role: saw it 2 times; allowed: once'],
  [['run', '--prompt'], '--prompt: saw no value; allowed: --prompt TEXT'],
  [['run', '--model', '--json'], '--model: saw "--json"; allowed: a value: ID'],
  [['show'], 'saw nothing after it; allowed: ID'],
  [['show', 'd-1'], 'that is no dispatch id: "d-1"'],
  [['cancel', 'd-01JE0000000000000000000000'], 'nothing is on record here'],
  [['result', 'd-01JE0000000000000000000000'], 'nothing is on record here'],
  [['wait', 'd-01JE0000000000000000000000'], 'nothing is on record here'],
  [['config', 'chekc'], 'nearest: check'],
  [['config', 'check', '--origin'], '--origin goes with `cmo config show`'],
  [['explain', 'decisions'], 'nearest: decision'],
  [['help', 'rum'], 'no help on "rum"; nearest: run'],
  [['--role', 'judge', 'run'], 'flags come after the command'],
])('cmo %j is refused with exit 2', async (args, says) => {
  const { code, stderr } = await box.cmo(args, { stdin: 'a task' });
  expect(code).toBe(2);
  expect(stderr).toContain(says);
  expect(existsSync(box.state)).toBe(false);
});

test('several wrong values are reported at once', async () => {
  const answer = await refused(['run', '--role', 'x', '--complexity', 'y', '--max-wait', 'z'], { stdin: 'a task' });
  expect(answer.error.details).toHaveLength(3);
});

test.each([
  ['nothing but blanks on stdin', [], ' \n\t\n', 'CMO_E_EMPTY_TASK'],
  ['an empty prompt', ['--prompt', ''], '', 'CMO_E_EMPTY_TASK'],
  ['prompt and prompt-file', ['--prompt', 'a', '--prompt-file', 'b'], '', 'CMO_E_UNSATISFIABLE'],
  ['a prompt file that is not there', ['--prompt-file', 'none.md'], '', 'CMO_E_USAGE'],
  ['a folder that is not there', ['--cwd', 'none'], 'a task', 'CMO_E_CWD'],
  ['a folder that is a file', ['--cwd', 'file.txt'], 'a task', 'CMO_E_CWD'],
  ['a schema that is not there', ['--schema', 'none.json'], 'a task', 'CMO_E_SCHEMA_FILE'],
  ['a schema that is no JSON', ['--schema', 'file.txt'], 'a task', 'CMO_E_SCHEMA_FILE'],
  ['a schema that is no object', ['--schema', 'list.json'], 'a task', 'CMO_E_SCHEMA_FILE'],
  ['full access where the config does not allow it', ['--full-access'], 'a task', 'CMO_E_NOT_PERMITTED'],
  ['write and read-only', ['--write', '--read-only'], 'a task', 'CMO_E_UNSATISFIABLE'],
  ['a judge that writes', ['--role', 'judge', '--write'], 'a task', 'CMO_E_UNSATISFIABLE'],
  [
    'a pin that strict independence excludes',
    ['--pin', 'codex', '--independent-of', 'openai', '--strict-independence'],
    'a task',
    'CMO_E_UNSATISFIABLE',
  ],
  ['a variable that bills elsewhere', ['--env', 'OPENAI_API_KEY=canary-1'], 'a task', 'CMO_E_NOT_PERMITTED'],
  ['a variable that is not set', ['--env', 'NOT_SET_HERE'], 'a task', 'CMO_E_NOT_PERMITTED'],
])('run and submit refuse %s with exit 2, and start nothing', async (_what, args, stdin, code) => {
  writeFileSync(join(box.folder, 'file.txt'), 'no json');
  writeFileSync(join(box.folder, 'list.json'), '[]');
  for (const command of ['run', 'submit']) {
    const answer = await refused([command, ...args], { stdin });
    expect([answer.code, answer.error.code]).toEqual([2, code]);
    expect(JSON.stringify(answer)).not.toContain('canary');
  }
});

test('a prompt that is not UTF-8 is refused: the agent would get another one', async () => {
  const answer = await refused(['run'], { stdin: Buffer.from([0x66, 0xff, 0x6f]) });
  expect([answer.code, answer.error.message]).toEqual([2, 'the prompt is not UTF-8 text']);
});

test('a malformed configuration is reported with its line before anything starts, and doctor reports it too', async () => {
  mkdirSync(dirname(box.configFile), { recursive: true });
  writeFileSync(box.configFile, '{\n  "pressure": { "tihgt": 5 },\n}');
  const answer = await refused(['run'], { stdin: 'a task' });
  expect([answer.code, answer.error.code]).toEqual([2, 'CMO_E_CONFIG']);
  expect(said(answer)).toContain('(line 3): saw text that is not JSON: a comma stands before this }');
  writeFileSync(box.configFile, '{ "pressure": { "tihgt": 5 } }');
  expect(said(await refused(['config', 'check']))).toContain('nearest: tight');
  expect(said(await refused(['up']))).toContain('nearest: tight');
  const doctor = await box.cmo(['doctor', '--only', 'config', '--json']);
  expect([doctor.code, JSON.parse(doctor.stdout)]).toMatchObject([
    1,
    { data: { rows: [{ id: 'config', status: 'fail' }] } },
  ]);
  writeFileSync(
    box.configFile,
    '{ "lanes": { "codex": { "env": { "OPENAI_BASE_URL": "https://llm.example.org/canary" } } } }',
  );
  const away = await refused(['run'], { stdin: 'a task' });
  expect(said(away)).toContain('lanes.codex.env sets OPENAI_BASE_URL, which leads to llm.example.org');
  expect(said(await refused(['config', 'check']))).toContain('llm.example.org');
  expect(JSON.stringify(away)).not.toContain('canary');
  writeFileSync(box.configFile, '{}');
  expect((await box.cmo(['config', 'check'])).code).toBe(0);
});
