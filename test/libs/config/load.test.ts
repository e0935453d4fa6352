import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_CONFIG, DEFAULT_TIMING } from '#contract';
import {
  configFrom,
  configOfValue,
  describeOrigin,
  loadConfig,
  renderDiagnostics,
  type Environment,
  type Loaded,
} from '#config';
import { tempFolder } from '../../support/temp.js';

const machine = { home: '/home/me', hostname: 'box-1', cores: 3 };
const load = (file: unknown, env: Environment = {}): Loaded =>
  configFrom(typeof file === 'string' ? file : JSON.stringify(file, null, 2), { file: 'config.json', env, machine });

function good(loaded: Loaded): Extract<Loaded, { ok: true }> {
  if (!loaded.ok) throw new Error(renderDiagnostics(loaded.diagnostics).join('\n'));
  return loaded;
}
function wrong(loaded: Loaded): string[] {
  if (loaded.ok) throw new Error('it was accepted');
  return renderDiagnostics(loaded.diagnostics);
}
const lane = (loaded: Loaded, id: string) => good(loaded).config.lanes.find((one) => one.id === id);

test('with no file and no variables the defaults hold, and the box fills in what only it knows', () => {
  const { config, file } = good(configFrom(null, { file: 'config.json', env: {}, machine }));
  expect(file).toBeNull();
  expect(config).toEqual({
    ...DEFAULT_CONFIG,
    slots: { ...DEFAULT_CONFIG.slots, node: 6 },
    nodeId: 'box-1',
    codexSessionsRoot: '/home/me/.codex/sessions',
    claudeCredentials: '/home/me/.claude/.credentials.json',
  });
});

test('a configuration of the tool that people come from keeps its meaning', () => {
  const { config } = good(
    load({
      models: {
        codex: { frontier: 'gpt-x', balanced: { model: 'gpt-y', reasoning: 'high' }, fast: { reasoning: 'minimal' } },
        claude: { fast: { effort: 'medium' } },
      },
      preference: { first: 'claude', weightPoints: 20 },
      pressure: { tight: 50, critical: 70, exhausted: 90 },
      freshness: { codex: 20000, claude: 60000 },
      reservation: { default: 2, codex: 0.5 },
      fleet: { url: 'http://10.0.0.2:7867', token: 'a-token-of-many-letters', nodeId: 'vps-alpha' },
      codexSessionsRoot: '/srv/codex/sessions',
      claudeCredentials: '~/other/.credentials.json',
    }),
  );
  const [codex, claude] = config.lanes;
  expect(codex?.models).toEqual({
    frontier: { model: 'gpt-x', effort: 'high' },
    balanced: { model: 'gpt-y', effort: 'high' },
    fast: { model: 'gpt-5.6-luna', effort: 'minimal' },
  });
  expect(claude?.models.fast).toEqual({ model: 'haiku', effort: 'medium' });
  expect(codex?.cost).toEqual({ five_hour: 0.5, weekly: 0.1, monthly: 0.1, other: 0.5 });
  expect(claude?.cost).toEqual({ five_hour: 2, weekly: 0.4, monthly: 0.4, other: 2 });
  expect([codex?.freshnessMs, claude?.freshnessMs]).toEqual([20000, 60000]);
  expect(config).toMatchObject({
    preference: { first: 'claude', weightPoints: 20 },
    pressure: { tight: 50, critical: 70, exhausted: 90 },
    fleet: { url: 'http://10.0.0.2:7867', token: 'a-token-of-many-letters' },
    nodeId: 'vps-alpha',
    codexSessionsRoot: '/srv/codex/sessions',
    claudeCredentials: '/home/me/other/.credentials.json',
  });
});

test('the environment outranks the file, and a variable set to nothing counts as unset', () => {
  const file = {
    models: { codex: { fast: 'from-file' } },
    preference: { first: 'claude' },
    fleet: { nodeId: 'from-file' },
  };
  const env = {
    CMO_CODEX_FAST: 'from-env',
    CMO_PREFER: '',
    CMO_NODE_ID: 'from-env',
    CMO_REDIS_URL: 'redis://localhost:6390',
    CMO_CODEX_SESSIONS: '/s',
    CMO_CLAUDE_CREDENTIALS: '/c.json',
  };
  const { config, origins } = good(load(file, env));
  expect(config.lanes[0]?.models.fast).toEqual({ model: 'from-env', effort: 'low' });
  expect(config).toMatchObject({
    preference: { first: 'claude' },
    nodeId: 'from-env',
    redisUrl: 'redis://localhost:6390',
    codexSessionsRoot: '/s',
    claudeCredentials: '/c.json',
  });
  const origin = (path: string) => describeOrigin(origins.get(path) ?? { from: 'default' });
  expect(origin('lanes.codex.models.fast.model')).toBe('CMO_CODEX_FAST');
  expect(origin('preference.first')).toBe('config.json:8 preference.first');
  expect(origin('slots.node')).toBe('this box (3 cores)');
  expect(origin('pressure.tight')).toBe('default');
});

test("where a CLI's own variable moves its folder, its files are looked for there", () => {
  const { config } = good(load({}, { CODEX_HOME: '/moved/codex', CLAUDE_CONFIG_DIR: '/moved/claude' }));
  expect(config).toMatchObject({
    codexSessionsRoot: '/moved/codex/sessions',
    claudeCredentials: '/moved/claude/.credentials.json',
  });
});

test('a lane is data: a second account of a vendor starts from the lane of its kind', () => {
  const loaded = load(
    {
      lanes: {
        'codex-work': {
          kind: 'codex',
          env: { CODEX_HOME: '/work/codex' },
          passEnv: ['MY_PROXY'],
          slots: 3,
          silence: '20m',
          models: { fast: 'gpt-mini' },
        },
        claude: { slots: null, command: '/opt/claude', allowEndpoint: true },
      },
    },
    { CMO_CODEX_WORK_BALANCED: 'gpt-env' },
  );
  expect(good(loaded).config.lanes.map(({ id }) => id)).toEqual(['codex', 'claude', 'codex-work']);
  expect(lane(loaded, 'codex-work')).toMatchObject({
    vendor: 'openai',
    account: 'codex-work',
    command: 'codex',
    env: { CODEX_HOME: '/work/codex' },
    passEnv: ['MY_PROXY'],
    slots: 3,
    silenceMs: 1_200_000,
    models: {
      frontier: { model: 'gpt-5.6-sol' },
      balanced: { model: 'gpt-env' },
      fast: { model: 'gpt-mini', effort: 'low' },
    },
  });
  expect(lane(loaded, 'claude')).toMatchObject({ command: '/opt/claude', allowEndpoint: true });
});

test('every problem of file and environment is reported at once, with place, value, what is allowed and the nearest key', () => {
  const file = `{
  "modles": {},
  "pressure": { "tight": "65", "critical": 85, "exhausted": 80 },
  "preference": { "first": "Claude", "weightPoints": -1 },
  "freshness": { "codex": "45" },
  "lanes": { "codex": { "silance": "5m", "env": { "A B": "x" } }, "gemini": {}, "__proto__": {}, "constructor": { "kind": "codex" } },
  "readCommands": ["ls", 5],
  "reservation": { "claud": 1 },
  "slots": null,
  "holdBack": []
}`;
  const names = 'a name of small letters, digits and - (at most 32)';
  const lines = wrong(load(file, { CMO_NODE_ID: 'any', CMO_STATE_DIR: 'state' }));
  expect(lines).toEqual([
    'config.json',
    '  modles (line 2): saw an unknown key; expected one of $schema, models, preference, pressure, freshness, reservation, lanes, slots, accounts, holdBack, allowFullAccess, readCommands, codexSessionsRoot, claudeCredentials, redisUrl, fleet, roots, notify, disk, retention, bounds, timing; nearest: models',
    '  pressure.tight (line 3): saw "65" (a string); expected a number 0..100',
    '  pressure.exhausted (line 3): saw 80, below pressure.critical (85); expected at least pressure.critical: tight ≤ critical ≤ exhausted',
    '  preference.weightPoints (line 4): saw -1; expected a number 0..1000',
    '  preference.first (line 4): saw "Claude" (a string); expected a lane: one of codex, claude; nearest: claude',
    '  freshness.codex (line 5): saw "45" (a string); expected milliseconds 1..86400000, or a text such as "90s", "5m", "8h"',
    '  lanes.codex.silance (line 6): saw an unknown key; expected one of vendor, kind, account, command, models, slots, env, passEnv, allowEndpoint, usageUrl, silence, freshness, cost; nearest: silence',
    '  lanes.codex.env["A B"] (line 6): saw the key "A B"; expected the name of an environment variable',
    `  lanes.__proto__ (line 6): saw the key "__proto__"; expected ${names}`,
    `  lanes.constructor (line 6): saw the key "constructor"; expected ${names}`,
    '  lanes.gemini (line 6): saw a lane without a kind; expected kind: one of codex, claude',
    '  readCommands[1] (line 7): saw 5; expected a command',
    '  reservation.claud (line 8): saw no such lane; expected a lane: one of default, codex, claude; nearest: claude',
    '  slots (line 9): saw null; expected an object with account, node, dark',
    '  holdBack (line 10): saw a list; expected an object with slots, points, hours',
    'environment',
    '  CMO_NODE_ID: saw "any" (a string); expected a machine name of letters, digits, . _ and - (not "any")',
    '  CMO_STATE_DIR: saw "state" (a string); expected an absolute path',
  ]);
  expect(({} as Record<string, unknown>)['kind']).toBeUndefined();
});

test.each([
  ['', 1, 'the file is empty'],
  ['{\n  "a": 1,\n}', 3, 'a comma stands before this }'],
  ['{\n  // mine\n  "a": 1 }', 2, 'comments are not JSON'],
  ["{ 'a': 1 }", 1, 'keys need double quotes'],
  ['{\n "pressure": {\n  "tight": 65', 3, 'the file ends before its }'],
  ['{ "a": 1 } x', 1, 'something follows the end of the value'],
  ['{ "a": tru }', 1, 'no value begins with "t"'],
  ['{ "a": "x\n" }', 1, 'this text has no closing quote on its line'],
  ['{ "a": 1\n "b": 2 }', 2, 'a comma or } is missing'],
  ['['.repeat(5000), 1, 'it is nested too deeply'],
])('what is no JSON is told with its line: %j', (text, line, why) => {
  const [, told] = wrong(load(text));
  expect(told).toContain(`(line ${line}): saw text that is not JSON: ${why} (column `);
});

test.each([['null'], ['[]'], ['5'], ['"x"']])('a file that holds %s is refused as a whole', (text) => {
  expect(wrong(load(text))[1]).toMatch(/^ {2}\(line 1\): saw .*; expected an object with/);
});

test('a byte order mark is accepted, a duplicate key is an error', () => {
  expect(good(load('\uFEFF{"slots": {"account": 3}}')).config.slots.account).toBe(3);
  expect(wrong(load('{"slots": {"account": 3,\n"account": 4}}'))).toEqual([
    'config.json',
    '  slots.account (line 2): saw a duplicate key; expected each key once',
  ]);
});

test('a value that two keys give is refused, whichever was meant', () => {
  expect(wrong(load({ freshness: { codex: 1000 }, lanes: { codex: { freshness: 2000 } } })).join()).toContain(
    'lanes.codex.freshness (line 7): saw a value that freshness.codex gives too',
  );
  expect(wrong(load({ models: { codex: { fast: { effort: 'low', reasoning: 'high' } } } })).join()).toContain(
    'reasoning (line 6): saw high, beside effort low',
  );
});

test('two lanes may share an account of one vendor, not of two', () => {
  expect(lane(load({ lanes: { second: { kind: 'codex', account: 'codex' } } }), 'second')?.account).toBe('codex');
  expect(wrong(load({ lanes: { second: { kind: 'claude', account: 'codex' } } })).join()).toContain(
    'saw codex, which lane codex draws on for openai',
  );
});

test('a preference for a lane that is not there names its variable and the nearest lane', () => {
  expect(wrong(load({}, { CMO_PREFER: 'codx' }))).toEqual([
    'environment',
    '  CMO_PREFER: saw "codx" (a string); expected a lane: one of codex, claude; nearest: codex',
  ]);
});

test('what may be a secret is never repeated in a message', () => {
  const lines = wrong(
    load(
      { redisUrl: 'canary-1', fleet: { token: 'canary 2' }, lanes: { codex: { env: { A: 'canary\0' } } } },
      { CMO_REDIS_URL: 'http://canary' },
    ),
  ).join('\n');
  expect(lines).not.toContain('canary');
  expect(lines.match(/a text that is not shown here/g)).toHaveLength(4);
});

test.each(['-m', 'a b', '', 'x\n'])('a model id that an argv would misread is refused: %j', (model) => {
  expect(wrong(load({ models: { codex: { fast: model } } })).join()).toContain('models.codex.fast');
});

test('variables that look like ours but are never read are reported, not refused', () => {
  const { warnings } = good(load({}, { CMO_PREFFER: 'claude', CMO_ATTEMPT: 'd-x.1', CMO_TEST_KEEP: '1' }));
  expect(warnings).toMatchObject([{ path: ['CMO_PREFFER'], nearest: 'CMO_PREFER' }]);
});

test('another file that lies in its place is refused at once, however large, and what is wrong is told in a page', () => {
  for (const text of ['x'.repeat(20_000_000), ' '.repeat(5_000_000)])
    expect(wrong(load(JSON.stringify({ $schema: text })))).toEqual([
      'config.json',
      `  saw a text of ${text.length + 14} characters; expected at most 262144 of them`,
    ]);
  const junk = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${'k'.repeat(i % 60)}${i}`, i]));
  const told = wrong(load(junk));
  expect(told).toHaveLength(102);
  expect(told.at(-1)).toBe('  and 4900 more');
  expect(Math.max(...told.map((line) => line.length))).toBeLessThan(400);
});

test('keys that have no effect yet give a warning with their line, so that nobody relies on them', () => {
  const { warnings } = good(
    load({ roots: ['/srv'], notify: [{ ntfy: 'https://ntfy.example/x' }], fleet: { url: 'https://box.example' } }),
  );
  expect(warnings.map(({ path }) => path.join('.'))).toEqual(['notify', 'roots', 'fleet.url']);
  expect(good(load({})).warnings).toEqual([]);
});

test('clocks can be set shorter, in milliseconds or as a text', () => {
  expect(
    good(load({ timing: { tokenLeaseMs: 500, restartGraceMs: 0, idleStopMs: '2s', refusalMs: [100, '1s'] } })).config
      .timing,
  ).toEqual({ ...DEFAULT_TIMING, tokenLeaseMs: 500, restartGraceMs: 0, idleStopMs: 2000, refusalMs: [100, 1000] });
});

test("an input's own configuration overrides the defaults and nothing else", () => {
  const { config } = good(configOfValue({ pressure: { tight: 1 } }, 'input'));
  expect(config.pressure).toEqual({ tight: 1, critical: 85, exhausted: 95 });
  expect(wrong(configOfValue({ x: 1 }, 'input'))[0]).toBe('input');
});

test('the file is read from disk; an unreadable one is an error, an absent one is not', () => {
  const folder = tempFolder('config');
  const file = join(folder, 'config.json');
  expect(good(loadConfig({ file, env: {}, machine })).file).toBeNull();
  writeFileSync(file, '{"allowFullAccess": true}');
  expect(good(loadConfig({ file, env: {}, machine }))).toMatchObject({ file, config: { allowFullAccess: true } });
  writeFileSync(file, '{"allowFullAccess": true, "codexSessionsRoot": "/home/z\u00fcrich"}', 'latin1');
  expect(wrong(loadConfig({ file, env: {}, machine }))).toEqual([
    file,
    '  saw a text that is not UTF-8; expected one JSON object in UTF-8',
  ]);
  mkdirSync(join(folder, 'a-folder'));
  spawnSync('mkfifo', [join(folder, 'a-pipe')]);
  for (const name of ['a-folder', 'a-pipe'])
    expect(wrong(loadConfig({ file: join(folder, name), env: {}, machine })).join()).toContain(
      'saw a folder, a pipe or a device',
    );
});
