import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive, processesWith, waitGone } from './processes.js';
import { tempFolder } from './temp.js';
import { waitUntil } from './wait-until.js';

const BIN = new URL('../fixtures/bin/', import.meta.url).pathname;
const SAMPLES = new URL('../vendor-sim/samples/', import.meta.url).pathname;
const CODEX = ['exec', '-', '--json', '--skip-git-repo-check', '--sandbox', 'workspace-write', '-m', 'gpt-5.6-terra'];
const CLAUDE = [
  '-p',
  '--output-format',
  'stream-json',
  '--verbose',
  '--model',
  'sonnet',
  '--dangerously-skip-permissions',
];

type Line = Record<string, unknown>;
const parse = (text: string): Line[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

function start(name: string, args: string[], prompt: string, more: Record<string, string> = {}) {
  const folder = tempFolder('standin');
  const codexHome = join(folder, 'codex');
  mkdirSync(codexHome);
  const env = {
    PATH: process.env['PATH'] ?? '',
    TZ: 'UTC',
    CODEX_HOME: codexHome,
    CMO_TEST_LEDGER: join(folder, 'ledger'),
    CMO_ATTEMPT: 'd-1.1',
    ...more,
  };
  const child = spawn(join(BIN, name), args, { cwd: folder, env });
  let out = '';
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stdin.end(prompt);
  const ended = new Promise<{ code: number | null; signal: string | null; out: Line[] }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, out: parse(out) })),
  );
  const ledger = (): Line[] =>
    existsSync(env.CMO_TEST_LEDGER) ? parse(readFileSync(env.CMO_TEST_LEDGER, 'utf8')) : [];
  return { child, folder, codexHome, ended, ledger };
}

/** What a reader of the stream decides by, without ids, times and the vendor's prose. */
const codexFacts = (line: Line) => [line['type'], (line['item'] as Line | undefined)?.['type']];
const claudeFacts = (line: Line) =>
  ['type', 'subtype', 'error', 'is_error', 'api_error_status', 'api_error_type', 'terminal_reason', 'error_status'].map(
    (key) => line[key],
  );

for (const scenario of [
  'echo',
  'usage-limit',
  'rate-limit',
  'auth-expired',
  'overloaded',
  'server-error',
  'cut',
  'empty',
  'tool',
  'bad-request',
]) {
  test(`the codex stand-in prints and records what the real codex did for ${scenario}`, async () => {
    const run = start('codex', CODEX, `Please answer. [[sim:${scenario}]]`);
    const { code, out } = await run.ended;
    const sample = (suffix: string): Line[] =>
      parse(readFileSync(join(SAMPLES, 'codex', `${scenario}${suffix}`), 'utf8'));
    expect(out.map(codexFacts)).toEqual(sample('.jsonl').map(codexFacts));
    expect(code).toBe(
      (JSON.parse(readFileSync(join(SAMPLES, 'codex', `${scenario}.run.json`), 'utf8')) as { exit_code: number })
        .exit_code,
    );

    const sessions = readdirSync(join(run.codexHome, 'sessions'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.jsonl'),
    );
    expect(sessions).toHaveLength(1);
    const errorOf = (lines: Line[]) => {
      const last = lines.map((line) => line['payload'] as Line).find((payload) => payload['type'] === 'task_complete');
      return (last?.['error'] as Line | undefined)?.['codex_error_info'];
    };
    expect(errorOf(parse(readFileSync(join(run.codexHome, 'sessions', sessions[0] ?? ''), 'utf8')))).toEqual(
      errorOf(sample('.rollout.jsonl')),
    );
  });

  test(`the claude stand-in prints what the real claude did for ${scenario}`, async () => {
    const { code, out } = await start('claude', CLAUDE, `Please answer. [[sim:${scenario}]]`).ended;
    const sample = parse(readFileSync(join(SAMPLES, 'claude', `${scenario}.jsonl`), 'utf8'));
    const result = (lines: Line[]) => claudeFacts(lines.find((line) => line['type'] === 'result') ?? {});
    expect(result(out)).toEqual(result(sample));
    const types = (lines: Line[]) =>
      new Set(lines.map((line) => line['type']).filter((type) => type !== 'stream_event' && type !== 'user'));
    expect(types(out)).toEqual(types(sample));
    expect(code).toBe(
      (JSON.parse(readFileSync(join(SAMPLES, 'claude', `${scenario}.run.json`), 'utf8')) as { exit_code: number })
        .exit_code,
    );
  });
}

test('quotes, backslashes and the last marker of a prompt survive', async () => {
  const prompt = 'say "it\'s" \\ [[sim:echo text=first]] [[sim:tool cmd="printf \'%s\' \\"a b\\""]]';
  const { out } = await start('codex', CODEX, prompt).ended;
  expect(JSON.stringify(out)).toContain('tool finished: a b');
  const echo = await start('claude', CLAUDE, 'say "it\'s" \\ back').ended;
  expect(echo.out.at(-1)?.['result']).toBe('sim:claude heard: say "it\'s" \\ back');
});

test('the ledger has a start and an end, with the attempt and the pid', async () => {
  const run = start('codex', CODEX, 'hello');
  await run.ended;
  expect(run.ledger()).toMatchObject([
    { event: 'start', cli: 'codex', attempt: 'd-1.1', pid: run.child.pid, argv: CODEX },
    { event: 'end', attempt: 'd-1.1', pid: run.child.pid, exit: 0 },
  ]);
});

test('without write access the tool is not run', async () => {
  for (const [name, args] of [
    ['codex', CODEX.map((word) => (word === 'workspace-write' ? 'read-only' : word))],
    ['claude', CLAUDE.slice(0, -1)],
  ] as const) {
    const run = start(name, args, '[[sim:tool cmd="touch written"]]');
    expect((await run.ended).code).toBe(0);
    expect(existsSync(join(run.folder, 'written'))).toBe(false);
  }
});

test('SIGTERM ends codex by the signal and claude with 143, and their sleeping children with them', async () => {
  for (const [name, args, code, signal] of [
    ['codex', CODEX, null, 'SIGTERM'],
    ['codex-wrapper', CODEX, null, 'SIGTERM'],
    ['claude', CLAUDE, 143, null],
  ] as const) {
    const mark = `${name}.${process.pid}`;
    const run = start(name, args, '[[sim:hang]]', { CMO_ATTEMPT: mark });
    await waitUntil(() => processesWith(mark).some(({ command }) => command.startsWith('sleep')));
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ code, signal });
    await waitUntil(() => processesWith(mark).length === 0);
  }
});

test('claude-ignores-term leaves on SIGKILL only', async () => {
  const run = start('claude-ignores-term', CLAUDE, '[[sim:slow seconds=2]]');
  await waitUntil(() => run.ledger().length === 1);
  const pid = run.child.pid ?? 0;
  run.child.kill('SIGTERM');
  expect(isAlive(pid)).toBe(true);
  run.child.kill('SIGKILL');
  await waitGone(pid);
});

test('prints-its-environment and claude-bills-an-api-key say what their names say', async () => {
  const env = await start('prints-its-environment', CODEX, 'x', { SOME_NAME: 'a "value"' }).ended;
  expect(env.out.map((line) => (line['item'] as Line | undefined)?.['text']).join('\n')).toContain(
    '\nSOME_NAME=a "value"\n',
  );
  const key = await start('claude-bills-an-api-key', CLAUDE, 'x').ended;
  expect(key.out[0]).toMatchObject({ subtype: 'init', apiKeySource: 'ANTHROPIC_API_KEY' });
});
