import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { BILLING_NAMES } from '#vendors';
import { openFlow, type FlowBox } from './flow-box.js';

let box: FlowBox;
afterEach(() => box.close());

const SECRET = 'would-bill-elsewhere';
/**
 * What people really have in their shells. None of it is in the list
 * that the code holds names against, as far as it can be helped.
 */
const SHELL = [
  ...[
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_MODEL',
    'ANTHROPIC_CUSTOM_HEADERS',
    'ANTHROPIC_BEDROCK_BASE_URL',
    'ANTHROPIC_VERTEX_PROJECT_ID',
    'CLAUDE_API_KEY',
  ],
  ...[
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_API_KEY_HELPER_TTL_MS',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_PROFILE',
    'AWS_BEARER_TOKEN_BEDROCK',
    'CLOUD_ML_REGION',
  ],
  ...[
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENAI_ORG_ID',
    'OPENAI_PROJECT',
    'CODEX_API_KEY',
    'AZURE_OPENAI_API_KEY',
    'AZURE_OPENAI_ENDPOINT',
    'OPENROUTER_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GROQ_API_KEY',
    'MISTRAL_API_KEY',
    'DEEPSEEK_API_KEY',
    'XAI_API_KEY',
  ],
];

test(`${SHELL.length} names of other billing paths, set in the shell that starts the daemon and in the one that sends: none reaches a child of either vendor`, async () => {
  box = openFlow({
    clis: { codex: 'prints-its-environment', claude: 'prints-its-environment' },
    env: Object.fromEntries(
      [...SHELL, ...BILLING_NAMES, 'SOME_NEW_PROVIDER_API_KEY', 'A_TOKEN'].map((name) => [name, `${SECRET}-${name}`]),
    ),
  });
  expect(SHELL.length).toBeGreaterThanOrEqual(30);
  for (const lane of ['codex', 'claude']) {
    for (const flags of [[], ['--write'], ['--read-only'], ['--env', 'EXTRA=mine']]) {
      const { result } = await box.run('[[sim:echo]]', '--pin', lane, ...flags);
      expect(result, lane).toContain('PATH=');
      expect(result, lane).not.toContain(SECRET);
      const names = (result ?? '').split('\n').map((line) => line.split('=')[0]);
      expect(
        names.filter((name) => SHELL.includes(name ?? '')),
        lane,
      ).toEqual([]);
      if (flags.includes('--env')) expect(result).toContain('EXTRA=mine');
    }
  }
  for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_BASE_URL', 'SOME_NEW_PROVIDER_API_KEY']) {
    const refused = await box.cmo(['run', '--env', name, '--prompt', 'x']);
    expect(refused.code, name).toBe(2);
    expect(refused.stderr).not.toContain(SECRET);
  }
});

test('a claude that reports an API key as its login is ended before it works, its lane closes and the work moves; doctor names settings that cause this', async () => {
  box = openFlow({ clis: { claude: 'claude-bills-an-api-key' } });
  writeFileSync(
    join(box.folder, 'claude-home', 'settings.json'),
    JSON.stringify({ apiKeyHelper: 'echo key', env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } }),
  );
  const id = await box.submit(
    '[[claude:hang]] [[codex:echo text="on the subscription"]]',
    '--role',
    'research',
    '--independent-of',
    'codex',
  );
  const envelope = await box.wait(id);
  expect(envelope).toMatchObject({ ok: true, lane: 'codex', result: 'on the subscription' });
  expect(box.attemptLines(id)[0]).toMatchObject({
    lane: 'claude',
    class: 'auth',
    words: expect.stringContaining('ANTHROPIC_API_KEY') as string,
    notes: ['ended-by-us:foreign-billing'],
  });
  expect((await box.status()).lanes.find((lane) => lane.id === 'claude')?.closed).toMatchObject({ reason: 'auth' });
  const { stdout } = await box.cmo(['doctor']);
  expect(stdout).toContain('apiKeyHelper');
});
