import { describe, expect, test } from 'vitest';
import { BILLING_NAMES, captureEnvironment, childEnvironment, chooseLocale, endpointOf } from '#vendors';

const NONE = { names: [], values: {} };
const lane = { id: 'claude', env: {}, passEnv: [], allowEndpoint: false };

describe('what is captured at submit', () => {
  test('is the allow-list and nothing else', () => {
    const source = {
      PATH: '/bin',
      HOME: '/h',
      XDG_CONFIG_HOME: '/c',
      VIRTUAL_ENV: '/v',
      CODEX_HOME: '/x',
      CLAUDE_CODE_OAUTH_TOKEN: 't',
      HTTPS_PROXY: 'p',
      SECRET: 's',
      DATABASE_URL: 'd',
      CMO_ATTEMPT: 'd-1.1',
      LD_PRELOAD: 'l',
      NODE_OPTIONS: 'n',
      EMPTY: undefined,
    };
    const { env, refused } = captureEnvironment(source, NONE);
    expect(env).toEqual({
      PATH: '/bin',
      HOME: '/h',
      XDG_CONFIG_HOME: '/c',
      VIRTUAL_ENV: '/v',
      CODEX_HOME: '/x',
      CLAUDE_CODE_OAUTH_TOKEN: 't',
      HTTPS_PROXY: 'p',
    });
    expect(refused).toEqual([]);
  });

  test('takes what is asked for by name, from the shell or with a value', () => {
    const { env, refused } = captureEnvironment(
      { SECRET: 's', DATABASE_URL: 'd' },
      { names: ['SECRET', 'MISSING'], values: { GREETING: 'hello', EMPTY: '' } },
    );
    expect(env).toEqual({ SECRET: 's', GREETING: 'hello', EMPTY: '' });
    expect(refused.map(({ name }) => name)).toEqual(['MISSING']);
  });

  test('refuses every name of another billing path, also when it is asked for, and what cmo sets itself', () => {
    expect(BILLING_NAMES.length).toBeGreaterThanOrEqual(30);
    const names = [
      ...BILLING_NAMES,
      'AWS_SECRET_ACCESS_KEY',
      'AWS_PROFILE',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'AZURE_OPENAI_API_KEY',
      'ANTHROPIC_CUSTOM_HEADERS',
      'SOME_NEW_API_KEY',
      'anthropic_api_key',
    ];
    const source = Object.fromEntries(names.map((name) => [name, `leak-${name}`]));
    expect(captureEnvironment(source, NONE).env).toEqual({});
    const asked = captureEnvironment(source, { names, values: {} });
    expect(asked.env).toEqual({});
    expect(asked.refused.map(({ name }) => name)).toEqual(names);
    const given = captureEnvironment(
      {},
      { names: [], values: { ...source, CMO_ATTEMPT: 'x', TZ: 'CET', CLAUDE_CODE_RETRY_WATCHDOG: '1' } },
    );
    expect(given.env).toEqual({});
    expect(given.refused).toHaveLength(names.length + 3);
  });

  test('refuses what is no name or no value', () => {
    const { env, refused } = captureEnvironment(
      {},
      { names: ['A-B', '__proto__', 'constructor'], values: { 'X=Y': '1', NUL: 'a\0b' } },
    );
    expect(env).toEqual({});
    expect(refused.map(({ name }) => name)).toEqual(['A-B', '__proto__', 'constructor', 'X=Y', 'NUL']);
  });
});

describe('what a child gets', () => {
  const child = (more: Partial<Parameters<typeof childEnvironment>[0]> = {}) =>
    childEnvironment({
      submitted: { PATH: '/bin' },
      lane,
      adapterEnv: { DISABLE_AUTOUPDATER: '1' },
      mark: 'd-1.2',
      ...more,
    });

  test('is what was submitted, the adapter’s, the lane’s, and ours last', () => {
    expect(
      child({
        lane: { ...lane, env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', TZ: 'CET', DISABLE_AUTOUPDATER: '0' } },
      }),
    ).toEqual({
      PATH: '/bin',
      DISABLE_AUTOUPDATER: '0',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      TZ: 'UTC',
      LC_ALL: 'C.UTF-8',
      CMO_ATTEMPT: 'd-1.2',
    });
  });

  test('has no name of another billing path, though the socket brought one, and never the retry watchdog', () => {
    const submitted = {
      PATH: '/bin',
      ...Object.fromEntries(BILLING_NAMES.map((name) => [name, 'leak'])),
      CLAUDE_CODE_RETRY_WATCHDOG: '1',
      CMO_ATTEMPT: 'forged',
    };
    const env = child({
      submitted,
      lane: { ...lane, passEnv: [...BILLING_NAMES], env: { CLAUDE_CODE_RETRY_WATCHDOG: '1' } },
      named: [...BILLING_NAMES],
    });
    expect(Object.values(env)).not.toContain('leak');
    expect(env).not.toHaveProperty('CLAUDE_CODE_RETRY_WATCHDOG');
    expect(env['CMO_ATTEMPT']).toBe('d-1.2');
  });

  test('has the names of its own passEnv and those the request asked for, not another lane’s', () => {
    const submitted = { PATH: '/bin', GITHUB_TOKEN: 'g', NPM_TOKEN: 'n', ASKED: 'a' };
    expect(Object.keys(child({ submitted, named: ['ASKED'], lane: { ...lane, passEnv: ['GITHUB_TOKEN'] } }))).toEqual([
      'PATH',
      'GITHUB_TOKEN',
      'ASKED',
      'DISABLE_AUTOUPDATER',
      'TZ',
      'LC_ALL',
      'CMO_ATTEMPT',
    ]);
    expect(child({ submitted })).toMatchObject(submitted);
  });

  test('has the best locale of the box', () => {
    expect(chooseLocale(['C', 'C.utf8', 'POSIX'])).toBe('C.UTF-8');
    expect(chooseLocale(['C', 'en_US.utf8'])).toBe('en_US.UTF-8');
    expect(chooseLocale(['C', 'POSIX'])).toBe('C');
  });
});

describe('where a lane leads', () => {
  const at = (env: Record<string, string>, allowEndpoint = false) => endpointOf({ id: 'claude', env, allowEndpoint });

  test('is nowhere else without a name of another billing path', () => {
    expect(at({})).toBe(null);
    expect(at({ CODEX_HOME: '/x', HTTPS_PROXY: 'http://proxy:1', CLAUDE_CODE_OAUTH_TOKEN: 't' })).toBe(null);
  });

  test('is a loopback host, which needs no leave', () => {
    for (const url of [
      'http://127.0.0.1:4180',
      'http://localhost:4180/v1',
      'http://[::1]:4180',
      'http://127.8.0.1:4180',
      'localhost:4180',
    ]) {
      expect(at({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: 'secret-token' })).toMatchObject({
        loopback: true,
        error: null,
      });
    }
    expect(at({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:4180/x' })?.host).toBe('127.0.0.1:4180');
  });

  test('is a foreign host or a key, which need it, and never shows the key', () => {
    for (const env of [
      { ANTHROPIC_BASE_URL: 'https://api.example.com/anthropic' },
      { OPENAI_API_KEY: 'secret-key' },
      { ANTHROPIC_BASE_URL: 'secret key in the wrong place' },
      { ANTHROPIC_BASE_URL: 'http://127.0.0.1.example.com' },
    ] as Record<string, string>[]) {
      const endpoint = at(env);
      expect(endpoint).toMatchObject({ loopback: false, error: expect.stringContaining('allowEndpoint') as string });
      expect(JSON.stringify(endpoint)).not.toContain('secret');
      expect(at(env, true)).toMatchObject({ error: null });
    }
    expect(at({ OPENAI_API_KEY: 'k' })?.host).toBe('api key');
    expect(at({ ANTHROPIC_BASE_URL: 'https://api.example.com/anthropic' })?.host).toBe('api.example.com');
  });
});
