import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { DispatchRow } from '#contract';
import { COMMANDS } from '#cli/commands/table';
import { data, fakeDaemon } from './support/fake-daemon.js';
import { freshBox } from './support/run-cli.js';

const row = (n: number, more: Partial<DispatchRow>): DispatchRow => ({
  id: `d-01JE000000000000000000000${n}`,
  state: 'succeeded',
  lane: 'codex',
  vendor: 'openai',
  model: 'gpt-5.6-terra',
  tier: 'balanced',
  role: 'research',
  class: 'normal',
  project: 'checkout',
  batch: null,
  node: 'box-1',
  attempts: 1,
  submittedAt: '2020-01-02T03:04:05Z',
  startedAt: '2020-01-02T03:04:06Z',
  endedAt: '2020-01-02T03:05:17Z',
  waiting: null,
  cancelAsked: false,
  needsLook: false,
  independence: null,
  degradedReview: false,
  progress: null,
  error: null,
  ...more,
});

test('ls shows a line for each, with why it waits or how it failed', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(box.state, () =>
    data('cmo.dispatches/1', {
      dispatches: [
        row(1, {}),
        row(2, { state: 'failed', error: 'CMO_E_FAILED the agent failed', lane: null, model: null }),
        row(3, { attempts: 3 }),
      ],
    }),
  );
  const { code, stdout } = await box.cmo(
    ['ls', '--state', 'succeeded,failed', '--limit', '3', '--batch', 'night & day'],
    { env: { TZ: 'UTC' } },
  );
  expect(code).toBe(0);
  expect(stdout)
    .toBe(`dispatch                      state      submitted         took    lane   model          role      project
d-01JE0000000000000000000001  succeeded  2020-01-02 03:04  1m 12s  codex  gpt-5.6-terra  research  checkout
d-01JE0000000000000000000002  failed     2020-01-02 03:04  1m 12s  -      -              research  checkout  CMO_E_FAILED the agent failed
d-01JE0000000000000000000003  succeeded  2020-01-02 03:04  1m 12s  codex  gpt-5.6-terra  research  checkout  3 attempts
`);
  expect(Object.fromEntries(daemon.received[0]?.query ?? [])).toEqual({
    limit: '3',
    state: 'succeeded,failed',
    batch: 'night & day',
  });
  expect(JSON.parse((await box.cmo(['ls', '--json'])).stdout)).toMatchObject({
    schema: 'cmo.dispatches/1',
    ok: true,
    data: { dispatches: [{ state: 'succeeded' }, {}, {}] },
  });
  await daemon.close();
});

test('a listing that is cut says so, unless its length was asked for', async () => {
  const box = await freshBox();
  const daemon = await fakeDaemon(box.state, () =>
    data('cmo.dispatches/1', { dispatches: Array.from({ length: 20 }, () => row(1, {})) }),
  );
  expect((await box.cmo(['ls'])).stderr).toBe('these are the newest 20; --limit 200 shows more\n');
  expect((await box.cmo(['ls', '--limit', '20'])).stderr).toBe('');
  expect((await box.cmo(['ls', '--json'])).stderr).toBe('');
  await daemon.close();
});

test('asking a box that never ran anything starts nothing on it', async () => {
  const box = await freshBox();
  expect(await box.cmo(['ls'])).toMatchObject({ code: 0, stdout: 'nothing on record matches\n' });
  expect(JSON.parse((await box.cmo(['ls', '--json'])).stdout)).toEqual({
    schema: 'cmo.dispatches/1',
    ok: true,
    data: { dispatches: [] },
  });
  expect(JSON.parse((await box.cmo(['status', '--json'])).stdout)).toEqual({
    schema: 'cmo.status/1',
    ok: true,
    data: { up: false, ended: null },
  });
  expect((await box.cmo(['down'])).stdout).toBe('no daemon ran\n');
  expect(existsSync(box.state)).toBe(false);
});

test('cmo alone tells how the box stands and what to type next', async () => {
  const box = await freshBox();
  const { code, stdout } = await box.cmo([], { env: { PATH: '/nowhere' } });
  expect(code).toBe(0);
  expect(stdout.replace(/^cmo [^:]+/, 'cmo V'))
    .toBe(`cmo V: agent tasks on the Claude and Codex subscriptions you have, up to their windows and not past them

  codex   missing: codex is not on PATH
  claude  missing: claude is not on PATH
  config  none, so the defaults
  daemon  has never run here; the first run or submit starts it

next:
  cmo doctor  what is missing here
  cmo help    every command
`);
});

test('every command has help with its flags and an example, and --json in front is understood', async () => {
  const box = await freshBox();
  const overview = await box.cmo(['help']);
  for (const { name, load } of COMMANDS) {
    expect(overview.stdout).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    const { stdout, code } = await box.cmo([name, '--help']);
    expect(code).toBe(0);
    const { flags, examples } = await load();
    for (const text of [...Object.values(flags).map((flag) => flag.name), ...examples]) expect(stdout).toContain(text);
  }
  for (const args of [
    ['help', 'run', '--json'],
    ['run', '--help', '--json'],
  ]) {
    const { data } = JSON.parse((await box.cmo(args)).stdout) as { data: object };
    expect(data).toMatchObject({
      name: 'run',
      json: { schema: 'cmo.envelope/1', inPipes: true },
      flags: expect.arrayContaining([expect.objectContaining({ name: '--max-wait', value: 'DUR' })]) as unknown,
    });
  }
  for (const about of [[], ['exit-codes'], ['environment']])
    expect(JSON.parse((await box.cmo(['help', ...about, '--json'])).stdout)).toMatchObject({
      schema: 'cmo.help/1',
      ok: true,
    });
  const wrong = await box.cmo(['help', 'rum', '--json']);
  expect([wrong.code, JSON.parse(wrong.stdout)]).toMatchObject([2, { schema: 'cmo.help/1', ok: false }]);
  expect((await box.cmo(['help', 'exit-codes'])).stdout).toMatch(/^130 +interrupted/m);
  expect((await box.cmo(['help', 'environment'])).stdout).toContain('CMO_STATE_DIR');
  expect(JSON.parse((await box.cmo(['--json', 'ls'])).stdout)).toMatchObject({ ok: true });
  expect((await box.cmo(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('config show tells each value and where it came from, and no secret', async () => {
  const box = await freshBox();
  mkdirSync(box.configFile.replace(/config\.json$/, ''), { recursive: true });
  writeFileSync(box.configFile, '{\n "pressure": {"tight": 60},\n "redisUrl": "redis://:canary@h"\n}');
  const { stdout } = await box.cmo(['config', 'show', '--origin', '--json'], { env: { CMO_CODEX_FAST: 'mini' } });
  const { data: shown } = JSON.parse(stdout) as {
    data: { values: { path: string; value: unknown; origin: string }[] };
  };
  const of = (path: string) => shown.values.find((one) => one.path === path);
  expect(of('pressure.tight')).toEqual({
    path: 'pressure.tight',
    value: 60,
    origin: `${box.configFile}:2 pressure.tight`,
  });
  expect(of('lanes.codex.models.fast.model')).toMatchObject({ value: 'mini', origin: 'CMO_CODEX_FAST' });
  expect(of('redisUrl')?.value).toBe('(set)');
  expect(stdout).not.toContain('canary');
  expect((await box.cmo(['config', 'show', '--origin'])).stdout).toMatch(/^pressure\.critical +default +85$/m);
  expect(JSON.parse((await box.cmo(['config', 'schema'])).stdout)).toMatchObject({
    type: 'object',
    additionalProperties: false,
    properties: { pressure: { properties: { tight: { maximum: 100 } } } },
  });
});
