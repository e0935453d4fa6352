import { describe, expect, test } from 'vitest';
import { adapterFor, type ArgvInput } from '#vendors';

const input = (more: Partial<ArgvInput> = {}): ArgvInput => ({
  model: 'm',
  effort: 'low',
  access: 'read',
  fullAccess: false,
  cwd: '/repo',
  files: { folder: '/run', lastMessage: '/run/last-message', schema: null },
  schemaText: null,
  newSession: '0f0f0f0f-0000-4000-8000-000000000000',
  resume: null,
  readCommands: ['cat', 'git diff'],
  ...more,
});

describe('codex', () => {
  const argv = (more?: Partial<ArgvInput>) => adapterFor('codex').argv(input(more));

  test('a reader is sandboxed read-only, a writer to its workspace, full access has neither', () => {
    expect(argv()).toEqual([
      'exec',
      '-',
      '--json',
      '--skip-git-repo-check',
      '-m',
      'm',
      '-c',
      'model_reasoning_effort=low',
      '--output-last-message',
      '/run/last-message',
      '--sandbox',
      'read-only',
      '-C',
      '/repo',
    ]);
    expect(argv({ access: 'write' })).toContain('workspace-write');
    const free = argv({ access: 'write', fullAccess: true });
    expect(free).toContain('--dangerously-bypass-approvals-and-sandbox');
    expect(free).not.toContain('--sandbox');
    expect(argv({ fullAccess: true })).toContain('read-only');
  });

  test('a resumed thread says its sandbox by -c and keeps its id and the prompt on stdin last', () => {
    const resumed = argv({
      resume: 'thread-1',
      access: 'write',
      files: { folder: '/run', lastMessage: '/run/l', schema: '/run/schema.json' },
    });
    expect(resumed.slice(0, 2)).toEqual(['exec', 'resume']);
    expect(resumed.slice(-2)).toEqual(['thread-1', '-']);
    expect(resumed).toContain('sandbox_mode="workspace-write"');
    expect(resumed).toContain('/run/schema.json');
    expect(resumed).not.toContain('--sandbox');
    expect(resumed).not.toContain('-C');
  });

  test('no effort, no flag', () => {
    expect(argv({ effort: null }).join(' ')).not.toContain('effort');
  });
});

describe('claude', () => {
  const argv = (more?: Partial<ArgvInput>) => adapterFor('claude').argv(input(more));

  test('a reader asks for nothing and may run the listed commands only', () => {
    const reader = argv();
    expect(reader).not.toContain('--dangerously-skip-permissions');
    expect(reader.slice(reader.indexOf('--permission-mode'))).toEqual([
      '--permission-mode',
      'dontAsk',
      '--allowedTools',
      'Read',
      'Glob',
      'Grep',
      'Bash(cat:*)',
      'Bash(git diff:*)',
      '--disallowedTools',
      'Edit',
      'Write',
      'NotebookEdit',
      '--session-id',
      '0f0f0f0f-0000-4000-8000-000000000000',
    ]);
  });

  test('a writer skips permissions; full access adds nothing to it and nothing to a reader', () => {
    expect(argv({ access: 'write' })).toContain('--dangerously-skip-permissions');
    expect(argv({ access: 'write', fullAccess: true })).toEqual(argv({ access: 'write' }));
    expect(argv({ fullAccess: true })).toEqual(argv());
  });

  test('a resumed session gets no new id, and a schema is passed inline', () => {
    const resumed = argv({ resume: 's-1', schemaText: '{"type":"object"}' });
    expect(resumed.slice(-2)).toEqual(['--resume', 's-1']);
    expect(resumed).not.toContain('--session-id');
    expect(resumed[resumed.indexOf('--json-schema') + 1]).toBe('{"type":"object"}');
  });

  test('root may skip permissions only in a sandbox, so it is called one for writers alone', () => {
    const { envFor, env } = adapterFor('claude');
    expect(envFor({ access: 'write', root: true })).toEqual({ ...env, IS_SANDBOX: '1' });
    expect(envFor({ access: 'write', root: false })).toEqual(env);
    expect(envFor({ access: 'read', root: true })).toEqual(env);
    expect(env).toMatchObject({
      CLAUDE_CODE_MAX_RETRIES: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    });
  });
});
