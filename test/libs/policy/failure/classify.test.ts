import { describe, expect, test } from 'vitest';
import {
  SILENT_CHANNEL,
  classify,
  type Channel,
  type RunFacts,
  type Verdict,
  type VendorCli,
} from '#policy/failure/index';

const NOW = Date.parse('2026-11-20T03:15:00Z');

function facts(cli: VendorCli, more: Partial<RunFacts>): RunFacts {
  return {
    cli,
    now: NOW,
    hostTimeZone: 'UTC',
    spawnError: null,
    cwdExists: true,
    exitCode: 1,
    signal: null,
    timedOut: false,
    silent: false,
    endedByUs: false,
    terminal: null,
    answer: 'empty',
    unfit: [],
    channel: SILENT_CHANNEL,
    lines: [],
    spoke: false,
    sandboxBroken: false,
    foreignBilling: null,
    flooded: null,
    unknownFormat: false,
    ...more,
  };
}

const said = (cli: VendorCli, words: string, channel: Partial<Channel> = {}) =>
  classify(
    facts(cli, { terminal: 'failed', channel: { ...SILENT_CHANNEL, standing: 'final', words: [words], ...channel } }),
  );
const onStderr = (cli: VendorCli, ...lines: string[]) => classify(facts(cli, { lines }));
const resetOf = (verdict: Verdict) =>
  'resetsAt' in verdict && verdict.resetsAt != null ? new Date(verdict.resetsAt).toISOString() : null;

describe('the sentences of claude', () => {
  test.each([
    ['Claude AI usage limit reached|1795151700', 'usage_limit', '2026-11-20T05:15:00.000Z'],
    [
      'Claude usage limit reached. Your limit will reset at 7am (Europe/London).',
      'usage_limit',
      '2026-11-20T07:00:00.000Z',
    ],
    ['Claude Max usage limit reached. Your limit will reset at 4am.', 'usage_limit', '2026-11-20T04:00:00.000Z'],
    ['Session limit reached ∙ resets 8am', 'usage_limit', '2026-11-20T08:00:00.000Z'],
    ['Weekly limit reached ∙ resets Nov 24, 5pm', 'usage_limit', '2026-11-24T17:00:00.000Z'],
    [
      'Limit reached · resets 5am (UTC) · /upgrade to Max or turn on /extra-usage',
      'usage_limit',
      '2026-11-20T05:00:00.000Z',
    ],
    ['Weekly limit reached · resets Mon 5pm', 'usage_limit', '2026-11-23T17:00:00.000Z'],
    ['Opus weekly limit reached ∙ resets Nov 25, 9am', 'usage_limit', '2026-11-25T09:00:00.000Z'],
    ['Opus 4.1 limit reached ∙ resets 5am', 'usage_limit', '2026-11-20T05:00:00.000Z'],
    ["You've reached your Fable limit.", 'usage_limit', null],
    ["You've hit your 5-hour limit · resets 6:09am (UTC)", 'usage_limit', '2026-11-20T06:09:00.000Z'],
    ["You've hit your session limit · resets 6:50am (UTC) · progress saved", 'usage_limit', '2026-11-20T06:50:00.000Z'],
    ["You've hit your limit · resets Jan 3, 11:30am (Asia/Calcutta)", 'usage_limit', null],
    ["You've hit your limit · resets tomorrow at 6am", 'usage_limit', '2026-11-21T06:00:00.000Z'],
    ["You've hit your monthly spend limit · raise it at claude.ai/settings/usage", 'usage_limit', null],
    ["You've hit your org's monthly usage limit", 'usage_limit', null],
    ['You’re out of extra usage · resets 1pm (UTC)', 'usage_limit', '2026-11-20T13:00:00.000Z'],
    ['You have reached your weekly limit', 'usage_limit', null],
    ['Session limit reached – resets in 2 hours', 'usage_limit', '2026-11-20T05:15:00.000Z'],
    [
      'API Error: Request rejected (429) · [1308][Usage limit reached for 5 hour. Your limit will reset at 2026-11-20 06:29:27]',
      'usage_limit',
      '2026-11-20T06:29:27.000Z',
    ],
    [
      'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit. Please try again later."}}',
      'rate_limit',
      null,
    ],
    ['API Error: Rate limit reached', 'rate_limit', null],
    [
      'API Error: Extra usage is required for 1M context · enable extra usage at claude.ai/settings/usage, or use --model to switch to standard context',
      'model_unavailable',
      null,
    ],
    ['Opus is experiencing high load, please use /model to switch to Sonnet', 'overloaded', null],
    ['Repeated 529 Overloaded errors', 'overloaded', null],
    ['API Error (Request timed out.)', 'transient', null],
    ['Request timed out', 'transient', null],
    ['API Error: Connection error.', 'transient', null],
    ['API Error: fetch failed', 'transient', null],
    [
      'API Error: Connection to the API was lost (ECONNRESET). This is usually temporary — try again.',
      'transient',
      null,
    ],
    ['API Error: 503 upstream connect error', 'transient', null],
    ['API Error: 502 Bad Gateway', 'transient', null],
    ['Invalid API key · Please run /login', 'auth', null],
    ['Invalid API key · Fix external API key', 'auth', null],
    ['OAuth token revoked · Please run /login', 'auth', null],
    [
      'Failed to authenticate. API Error: 401 OAuth token has expired. Please obtain a new token or refresh your existing token.',
      'auth',
      null,
    ],
    ['Please run /login · API Error: 403 {"error":{"type":"permission_error"}}', 'auth', null],
    ['Your account does not have access to Claude. Please login again or contact your administrator.', 'auth', null],
    ['This organization has been disabled.', 'auth', null],
    ['Prompt is too long · try /compact', 'deterministic', null],
    ['Context limit reached · /compact or /clear to continue', 'deterministic', null],
    ['Conversation too long. Press esc twice to go up a few messages and try again.', 'deterministic', null],
    ['Your account has been disabled after an automatic review.', 'auth', null],
    [
      'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}',
      'deterministic',
      null,
    ],
    ['API Error: 400 due to tool use concurrency issues.', 'deterministic', null],
    [
      "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
      'deterministic',
      null,
    ],
    ['Request too large (max 32MB). Try with a smaller file.', 'deterministic', null],
    [
      'API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup).',
      'content_refused',
      null,
    ],
    ["Fable 5's safeguards flagged this message.", 'content_refused', null],
    [
      "There's an issue with the selected model (claude-x). It may not exist or you may not have access to it.",
      'model_unavailable',
      null,
    ],
    [
      'API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-nova-9"}}',
      'model_unavailable',
      null,
    ],
    ['Claude Opus is not available with the Claude Pro plan.', 'model_unavailable', null],
  ])('%s', (words, expected, reset) => {
    const verdict = said('claude', words, { status: Number(/API Error: (\d{3})/.exec(words)?.[1] ?? 0) || null });
    expect([verdict.class, resetOf(verdict)]).toEqual([expected, reset]);
  });
});

describe('the sentences of codex', () => {
  test.each([
    [
      "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 days 17 hours 14 minutes.",
      'usage_limit',
      '2026-11-22T20:29:00.000Z',
    ],
    [
      "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11\nminutes.",
      'usage_limit',
      '2026-11-26T01:26:00.000Z',
    ],
    [
      "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing), or wait for limits to reset (every 5h and every week.).",
      'usage_limit',
      null,
    ],
    ["You've hit your usage limit. Try again in less than a minute.", 'usage_limit', '2026-11-20T03:16:00.000Z'],
    ["You've hit your usage limit. Try again in 1 hour 2 minutes.", 'usage_limit', '2026-11-20T04:17:00.000Z'],
    [
      'You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at Nov 30th, 2026 12:20 AM.',
      'usage_limit',
      '2026-11-30T00:20:00.000Z',
    ],
    [
      "You've hit your usage limit for codex_bengalfox. Switch to another model now, or try again at 11:05 AM.",
      'usage_limit',
      '2026-11-20T11:05:00.000Z',
    ],
    [
      "You've hit your usage limit. Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or try again at Dec 1st, 2026 1:03 PM.",
      'usage_limit',
      '2026-12-01T13:03:00.000Z',
    ],
    ["You've hit your usage limit. Try again at Nov 23rd, 2026 7:11 PM.", 'usage_limit', '2026-11-23T19:11:00.000Z'],
    ['Your workspace is out of credits. Add credits to continue.', 'usage_limit', null],
    [
      'You hit your spend cap set by the owner of your workspace. Ask an owner to increase your spend cap to continue.',
      'usage_limit',
      null,
    ],
    ['Your workspace has reached its spend limit. Ask your workspace owner to raise it.', 'usage_limit', null],
    ["You've hit your usage limit. Try again at 1:00 AM.", 'usage_limit', '2026-11-20T01:00:00.000Z'],
    ["You've hit your usage limit. Try again at 3:20 AM.", 'usage_limit', '2026-11-20T03:20:00.000Z'],
    ['Quota exceeded. Check your plan and billing details.', 'usage_limit', null],
    ['The usage limit has been reached', 'usage_limit', null],
    ['exceeded retry limit, last status: 429 Too Many Requests, request id: abc', 'rate_limit', null],
    [
      'stream disconnected before completion: Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.5s.',
      'rate_limit',
      '2026-11-20T03:15:01.500Z',
    ],
    [
      'stream disconnected before completion: Your requests to gpt-5.4 for gpt-5.4 in eastus2 have exceeded rate limit.',
      'rate_limit',
      null,
    ],
    [
      'unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: https://x/',
      'auth',
      null,
    ],
    ['unexpected status 403 Forbidden: Unknown error, url: https://x/', 'auth', null],
    [
      'Your access token could not be refreshed because you have since logged out or signed in to another account. Please sign in again.',
      'auth',
      null,
    ],
    ['Missing environment variable: `SIM_KEY`.', 'auth', null],
    ["The 'gpt-nova' model is not supported when using Codex with a ChatGPT account.", 'model_unavailable', null],
    ['The model `gpt-nova` does not exist or you do not have access to it.', 'model_unavailable', null],
    [
      "The 'gpt-6' model requires a newer version of Codex. Please upgrade to the latest app or CLI and try again.",
      'model_unavailable',
      null,
    ],
    ['unexpected status 404 Not Found: not here, url: https://x/', 'model_unavailable', null],
    ['unexpected status 502 Bad Gateway: , url: https://x/', 'transient', null],
    ['unexpected status 503 Service Unavailable: , url: https://x/', 'transient', null],
    ['stream disconnected before completion: stream closed before response.completed', 'transient', null],
    ['stream disconnected before completion: idle timeout waiting for SSE', 'transient', null],
    [
      'stream disconnected before completion: Transport error: network error: error decoding response body',
      'transient',
      null,
    ],
    ['Connection failed: error sending request for url (http://127.0.0.1:9/)', 'transient', null],
    ['internal error; agent loop died unexpectedly', 'transient', null],
    ['request timed out', 'transient', null],
    [
      "Codex ran out of room in the model's context window. Start a new conversation or clear earlier history before retrying.",
      'deterministic',
      null,
    ],
    ['Incomplete response returned, reason: max_output_tokens', 'deterministic', null],
    ['Incomplete response returned, reason: content_filter', 'content_refused', null],
    ['shared rollout token budget exhausted', 'deterministic', null],
    ['Image poisoning', 'deterministic', null],
    ['Invalid image in your last message. Please remove it and try again.', 'deterministic', null],
    ['This content violates our usage policies.', 'content_refused', null],
    ['codex-linux-sandbox was required but not provided', 'environment', null],
    ['turn aborted. Something went wrong? Hit `/feedback` to report the issue.', 'killed', null],
    ['something nobody has ever said', 'transient', null],
  ])('%s', (words, expected, reset) => {
    const verdict = said('codex', words, { status: Number(/status:? (\d{3})/.exec(words)?.[1] ?? 0) || null });
    expect([verdict.class, resetOf(verdict)]).toEqual([expected, reset]);
  });
});

describe('lines of a failed start', () => {
  test.each([
    [
      'claude',
      ['--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons'],
      'environment',
      'switch',
    ],
    ['claude', ['Error: Session ID 0f is already in use.'], 'deterministic', 'fail'],
    ['claude', ['No conversation found with session ID: 0f'], 'deterministic', 'fail'],
    ['claude', ['Error: --json-schema is not valid JSON: Unexpected token'], 'deterministic', 'fail'],
    ['claude', ['Error: ENOSPC: no space left on device, write'], 'environment', 'fail'],
    [
      'claude',
      ['TypeError: fetch failed', '    cause: Error: connect ECONNREFUSED 127.0.0.1:443'],
      'transient',
      'retry_same',
    ],
    ['claude', ['/bin/sh: 1: claude: command not found'], 'environment', 'switch'],
    ['claude', ["error: option '--effort <level>' argument 'hughe' is invalid."], 'deterministic', 'fail'],
    ['claude', ["error: option '--model <model>' argument missing"], 'deterministic', 'fail'],
    ['claude', ['Error processing settings: Invalid JSON provided to --settings'], 'deterministic', 'fail'],
    ['claude', ['Error: Invalid MCP configuration:', 'MCP config file not found: /x.json'], 'deterministic', 'fail'],
    [
      'claude',
      [
        "Error: EACCES: permission denied, mkdir '/home/u/.claude'",
        'at Object.mkdirSync (node:fs:1371:26)',
        'Node.js v20.20.2',
      ],
      'environment',
      'switch',
    ],
    ['claude', ["error: unknown command 'foo'"], 'deterministic', 'fail'],
    ['claude', ['error: Claude Code requires Node.js version 22 or higher.'], 'environment', 'switch'],
    [
      'claude',
      ['Error loading shared library libgcc_s.so.1: No such file or directory (needed by /usr/bin/claude)'],
      'environment',
      'switch',
    ],
    ['claude', ["Error: Cannot find module '/usr/lib/node_modules/x/cli.js'"], 'environment', 'switch'],
    ['claude', ["/usr/bin/env: 'node': No such file or directory"], 'environment', 'switch'],
    ['claude', ['Error: self-signed certificate in certificate chain'], 'environment', 'switch'],
    ['codex', ['Error: Permission denied (os error 13)'], 'environment', 'switch'],
    ['codex', ['Error: failed to resolve CODEX_HOME: No such file or directory (os error 2)'], 'environment', 'switch'],
    ['codex', ['Error: No such file or directory (os error 2)'], 'environment', 'switch'],
    ['codex', ['Error: Model provider `foo` not found'], 'deterministic', 'fail'],
    ['codex', ['Error: Missing optional dependency @openai/codex-linux-x64. Reinstall Codex'], 'environment', 'switch'],
    [
      'codex',
      ['Error: spawn /usr/lib/codex ENOENT', 'at ChildProcess._handle.onexit (node:internal/child_process:285:19)'],
      'environment',
      'switch',
    ],
    [
      'codex',
      ["error: unexpected argument '--full-auto' found", '', 'Usage: codex exec [OPTIONS] [PROMPT]'],
      'deterministic',
      'fail',
    ],
    [
      'codex',
      ["error: the argument '--sandbox <SANDBOX_MODE>' cannot be used multiple times"],
      'deterministic',
      'fail',
    ],
    ['codex', ['Error: Input exceeds the maximum length of 1048576 characters'], 'deterministic', 'fail'],
    ['codex', ['Error: no rollout found for thread id 0f'], 'deterministic', 'fail'],
    ['codex', ['Error: CODEX_HOME points to "/x", but that path does not exist'], 'environment', 'switch'],
    ['codex', ['Not logged in. Please run `codex login`'], 'auth', 'switch'],
    ['codex', ["ERROR: You've hit your usage limit. Try again later."], 'usage_limit', 'switch'],
    ['codex', ['■ You’ve hit your usage limit. Try again at 4:00 AM.'], 'usage_limit', 'switch'],
    ['codex', ["thread 'main' panicked at core/src/x.rs:1:1:", 'boom'], 'transient', 'retry_same'],
    [
      'codex',
      ['WARNING: proceeding, even though we could not create PATH aliases: Refusing', 'Reading prompt from stdin...'],
      'transient',
      'retry_same',
    ],
  ] as const)('%s %j', (cli, lines, expected, action) => {
    expect(onStderr(cli, ...lines)).toMatchObject({ class: expected, action });
  });

  test('are read in the light of a working directory that is not there', () => {
    expect(
      classify(facts('codex', { cwdExists: false, lines: ['Error: No such file or directory (os error 2)'] })),
    ).toMatchObject({ class: 'deterministic', action: 'fail' });
  });

  test('count for nothing once the agent had begun, unless the box itself cries', () => {
    expect(classify(facts('claude', { spoke: true, lines: ['HTTP 429 Too Many Requests'] })).class).toBe('transient');
    expect(
      classify(
        facts('claude', {
          spoke: true,
          lines: ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'],
        }),
      ).class,
    ).toBe('killed');
    expect(
      classify(facts('codex', { spoke: true, lines: ['Error: No space left on device (os error 28)'] })),
    ).toMatchObject({ class: 'environment', boxWide: true, action: 'fail' });
  });
});

describe('starts that never were', () => {
  test.each([
    ['ENOENT', true, 'environment', 'switch'],
    ['spawn codex EACCES', true, 'environment', 'switch'],
    ['ENOENT', false, 'deterministic', 'fail'],
    ['ENOSPC', true, 'environment', 'fail'],
    ['EAGAIN', true, 'transient', 'retry_same'],
    ['EMFILE', true, 'transient', 'retry_same'],
    ['E2BIG', true, 'deterministic', 'fail'],
  ] as const)('%s with the working directory there: %s', (spawnError, cwdExists, expected, action) => {
    expect(classify(facts('codex', { exitCode: null, spawnError, cwdExists }))).toMatchObject({
      class: expected,
      action,
    });
  });
});

describe('runs that were cut', () => {
  const refused: Channel = {
    ...SILENT_CHANNEL,
    standing: 'retrying',
    words: ['api_retry: rate_limit (status 429)'],
    kinds: ['rate_limit'],
    status: 429,
  };

  test('a 429 and a login that is over outrank our own watchdogs, a server error does not', () => {
    const lapsed: Channel = {
      ...refused,
      words: ['api_retry: authentication_failed (status 401)'],
      kinds: ['authentication_failed'],
      status: 401,
    };
    for (const end of [{ timedOut: true }, { silent: true }, { signal: 'SIGKILL', exitCode: null }]) {
      expect(classify(facts('claude', { ...end, channel: refused })).class).toBe('rate_limit');
      expect(classify(facts('claude', { ...end, channel: lapsed })).class).toBe('auth');
    }
    const slow: Channel = {
      ...refused,
      words: ['api_retry: server_error (status 500)'],
      kinds: ['server_error'],
      status: 500,
    };
    expect(classify(facts('claude', { timedOut: true, channel: slow })).class).toBe('timeout');
    expect(classify(facts('claude', { silent: true, channel: slow })).class).toBe('silence');
    expect(classify(facts('claude', { exitCode: null, signal: 'SIGKILL', channel: slow })).class).toBe('killed');
  });

  test('a named rejected window makes a refusal a spent one, and its number is the reset', () => {
    const resetsAt = NOW + 3_600_000;
    expect(
      classify(
        facts('claude', {
          endedByUs: true,
          exitCode: 143,
          channel: { ...refused, rejected: { type: 'five_hour', resetsAt } },
        }),
      ),
    ).toMatchObject({ class: 'usage_limit', resetsAt });
    expect(
      classify(
        facts('claude', {
          endedByUs: true,
          exitCode: 143,
          channel: { ...refused, rejected: { type: null, resetsAt: null } },
        }),
      ),
    ).toMatchObject({ class: 'rate_limit', resetsAt: null });
  });

  test('a number that no window of that kind can have is not believed', () => {
    const channel: Channel = { ...refused, rejected: { type: 'five_hour', resetsAt: NOW + 9 * 3_600_000 } };
    expect(classify(facts('claude', { endedByUs: true, channel }))).toMatchObject({
      class: 'usage_limit',
      resetsAt: null,
    });
    const stated = (resetsAt: number) =>
      said('claude', "You've hit your session limit.", { resetsAt, kinds: ['usage_limit_reached'] });
    expect(resetOf(stated(NOW + 4 * 3_600_000))).toBe('2026-11-20T07:15:00.000Z');
    expect(resetOf(stated(NOW + 9 * 3_600_000))).toBeNull();
  });

  test('a run that would have billed a key is a matter of the login', () => {
    expect(
      classify(facts('claude', { endedByUs: true, exitCode: 143, foreignBilling: 'ANTHROPIC_API_KEY' })),
    ).toMatchObject({ class: 'auth', action: 'switch' });
  });

  test('a flood, a format of another age and silence each have a name', () => {
    expect(classify(facts('codex', { flooded: 1e9 })).class).toBe('deterministic');
    for (const exitCode of [0, 1])
      expect(classify(facts('codex', { exitCode, unknownFormat: true }))).toMatchObject({
        class: 'environment',
        drift: true,
        action: 'switch',
      });
    expect(classify(facts('codex', { silent: true, exitCode: 143 })).class).toBe('silence');
  });

  test('words are capped at 500 characters', () => {
    const verdict = said('codex', 'x'.repeat(5000));
    expect('words' in verdict && verdict.words.length).toBe(500);
  });
});

describe('machine words of the session file', () => {
  test.each([
    ['usage_limit_exceeded', null, 'usage_limit'],
    ['context_window_exceeded', null, 'deterministic'],
    ['rate_limit_error', null, 'rate_limit'],
    ['invalid_request_error', null, 'deterministic'],
    ['content_policy_violation', 400, 'content_refused'],
    ['server_overloaded', null, 'overloaded'],
    ['internal_server_error', null, 'transient'],
    ['unauthorized', null, 'auth'],
    ['sandbox_error', null, 'environment'],
    ['cyber_policy', null, 'content_refused'],
    ['model_not_found', null, 'model_unavailable'],
    ['response_too_many_failed_attempts', 429, 'rate_limit'],
    ['http_connection_failed', 401, 'auth'],
    ['http_connection_failed', 503, 'transient'],
    ['response_stream_disconnected', null, 'transient'],
  ] as const)('%s with status %s', (kind, status, expected) => {
    expect(said('codex', 'a sentence of next year', { kinds: [kind], status }).class).toBe(expected);
  });
});
