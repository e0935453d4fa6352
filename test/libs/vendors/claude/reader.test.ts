import { describe, expect, test } from 'vitest';
import { init, kinds, result, run, said, synthetic } from '../runs.js';

const delta = (text: string) => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
  session_id: 's-1',
  parent_tool_use_id: null,
});
const start = { type: 'stream_event', event: { type: 'message_start' }, session_id: 's-1', parent_tool_use_id: null };
const ping = { type: 'stream_event', event: { type: 'ping' }, session_id: 's-1' };
const status = { type: 'system', subtype: 'status', status: 'requesting', session_id: 's-1' };
const retry = (error_status: number | null, error: string) => ({
  type: 'system',
  subtype: 'api_retry',
  attempt: 1,
  max_retries: 10,
  retry_delay_ms: 500,
  error_status,
  error,
  session_id: 's-1',
});
const rejected = (more: object = {}) => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt: 1_795_998_007, rateLimitType: 'five_hour', ...more },
  session_id: 's-1',
});
const tool = (id: string, name = 'Bash') =>
  said('', { message: { id: 'm-t', content: [{ type: 'tool_use', id, name, input: {} }] } });
const toolResult = (id: string) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
});

describe('what the stream says while it runs', () => {
  test('the session comes first and once', () => {
    const { signals } = run('claude', [init(), said('a'), result('a')], {}, { pieces: 50 });
    expect(signals[0]).toEqual({ kind: 'session', id: 's-1' });
    expect(signals.filter(({ kind }) => kind === 'session')).toHaveLength(1);
    expect(signals.at(-1)).toEqual({ kind: 'final' });
  });

  test('pings, status, retries and quota lines are no progress', () => {
    expect(kinds(run('claude', [ping, status, retry(500, 'server_error'), rejected({ status: 'allowed' })]))).toEqual([
      'session',
      'rate-limit-event',
    ]);
    expect(kinds(run('claude', ['[1,2]', 'npm notice', '{"broken":', '7'].join('\n')))).toEqual([]);
    expect(kinds(run('claude', [{ type: 'keep_alive' }]))).toEqual([]);
    expect(kinds(run('claude', [start, delta('a')]))).toContain('progress');
    expect(kinds(run('claude', [{ type: 'event_of_next_year' }]))).toEqual(['progress']);
  });

  test('the first retry after a 429 asks for the end, once; no other retry does', () => {
    const refused = run('claude', [init(), retry(429, 'rate_limit'), retry(429, 'rate_limit')], {
      endedByUs: true,
      exitCode: 143,
    });
    expect(refused.signals.filter(({ kind }) => kind === 'refused')).toHaveLength(1);
    expect(refused.reading).toMatchObject({ ok: false, failure: { class: 'rate_limit', resetsAt: null }, began: 'no' });
    expect(kinds(run('claude', [init(), retry(529, 'overloaded'), retry(401, 'authentication_failed')]))).not.toContain(
      'refused',
    );
  });

  test('a rejected window before it makes it a spent window with its reset', () => {
    const { reading } = run('claude', [init(), rejected(), retry(429, 'rate_limit')], {
      endedByUs: true,
      exitCode: 143,
    });
    expect(reading).toMatchObject({
      ok: false,
      failure: { class: 'usage_limit', resetsAt: '2026-11-30T00:20:07.000Z' },
    });
  });

  test('a rejected window ends when the model answers after it: a later throttle does not count as a spent window', () => {
    const { reading } = run('claude', [init(), rejected(), said('it went on'), retry(429, 'rate_limit')], {
      endedByUs: true,
      exitCode: 143,
    });
    expect(reading).toMatchObject({ ok: false, failure: { class: 'rate_limit', resetsAt: null } });
  });

  test('of two rejected windows the one that opens last counts', () => {
    const windows = {
      unifiedWindows: {
        five_hour: { status: 'rejected', resetsAt: 1_795_998_007 },
        seven_day: { status: 'rejected', resetsAt: 1_796_394_407 },
      },
    };
    const { reading } = run('claude', [init(), rejected(windows), retry(429, 'rate_limit')], { endedByUs: true });
    expect(reading).toMatchObject({ failure: { resetsAt: '2026-12-04T14:26:47.000Z' } });
  });

  test('a run that starts with a key source reports it, and if ended for it counts as a login failure', () => {
    const { signals, reading } = run('claude', [init({ apiKeySource: 'ANTHROPIC_API_KEY' })], {
      endedByUs: true,
      endedForBilling: true,
      exitCode: 143,
    });
    expect(signals).toContainEqual({ kind: 'foreign-billing', source: 'ANTHROPIC_API_KEY' });
    expect(reading).toMatchObject({ ok: false, failure: { class: 'auth' } });
    expect(kinds(run('claude', [init()]))).not.toContain('foreign-billing');
  });

  test('an answer that another account paid for before we could end the run is refused and kept for people to see, unless the lane may bill that way', () => {
    const keyed = init({ apiKeySource: 'ANTHROPIC_API_KEY' });
    expect(run('claude', [keyed, result('Paid.')], { endedByUs: true, endedForBilling: true }).reading).toMatchObject({
      ok: false,
      failure: { class: 'auth' },
      partial: 'Paid.',
    });
    expect(run('claude', [keyed, result('Paid.')]).reading).toMatchObject({ ok: true, text: 'Paid.' });
    expect(run('claude', [keyed, retry(429, 'rate_limit')], { endedByUs: true, exitCode: 143 }).reading).toMatchObject({
      failure: { class: 'rate_limit' },
    });
  });
});

describe('what it came to', () => {
  test('several results: the last one that had a turn of its own', () => {
    expect(
      run('claude', [
        init(),
        result('first'),
        said('second', { message: { id: 'm-2', content: [{ type: 'text', text: 'second' }] } }),
        result('second'),
      ]).reading,
    ).toMatchObject({ ok: true, text: 'second' });
    expect(
      run('claude', [init(), result('', { is_error: true, subtype: 'error_during_execution' }), result('recovered')])
        .reading,
    ).toMatchObject({ ok: true, text: 'recovered' });
    expect(
      run('claude', [
        init(),
        result('good'),
        result('', {
          subtype: 'error_during_execution',
          is_error: true,
          num_turns: 0,
          duration_api_ms: 0,
          errors: ['x'],
        }),
      ]).reading,
    ).toMatchObject({ ok: true, text: 'good', usage: { inputTokens: 60, outputTokens: 4 } });
    expect(
      run('claude', [
        init(),
        result('good'),
        result("You've hit your session limit · resets 1am (UTC)", {
          is_error: true,
          num_turns: 3,
          api_error_status: 429,
        }),
      ]).reading,
    ).toMatchObject({ ok: false, failure: { class: 'usage_limit' } });
  });

  test('an error that the CLI made up itself is one, even under a result that calls itself a success', () => {
    const text = "You've hit your limit · resets 1am (UTC)";
    expect(run('claude', [init(), synthetic(text, 'rate_limit'), result(text)]).reading).toMatchObject({
      ok: false,
      failure: { class: 'usage_limit' },
    });
    expect(
      run('claude', [init(), synthetic('API Error: 529', 'overloaded'), said('Recovered.'), result('Recovered.')])
        .reading,
    ).toMatchObject({ ok: true });
  });

  test('a made-up line of no meaning is never the answer', () => {
    expect(
      run('claude', [
        init(),
        said('No response requested.', {
          message: { model: '<synthetic>', content: [{ type: 'text', text: 'No response requested.' }] },
        }),
        result(''),
      ]).reading,
    ).toMatchObject({ ok: false, failure: { class: 'transient' } });
  });

  test('spent turns and budgets are final, an unmet schema of the CLI is ours to repair, an interrupt is a kill', () => {
    for (const [subtype, expected] of [
      ['error_max_turns', 'deterministic'],
      ['error_max_budget_usd', 'deterministic'],
      ['error_max_structured_output_retries', 'schema'],
    ] as const) {
      expect(
        run('claude', [init(), { type: 'result', subtype, is_error: subtype !== 'error_max_turns', num_turns: 9 }], {
          exitCode: 1,
        }).reading,
      ).toMatchObject({ ok: false, failure: { class: expected } });
    }
    expect(
      run('claude', [
        init(),
        {
          type: 'result',
          subtype: 'error_during_execution',
          is_error: true,
          num_turns: 1,
          terminal_reason: 'aborted_tools',
        },
      ]).reading,
    ).toMatchObject({ failure: { class: 'killed' } });
  });

  test('a run that dies keeps what the agent had said, without its thinking', () => {
    const thinking = {
      type: 'stream_event',
      event: { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'secret' } },
      parent_tool_use_id: null,
    };
    const { reading } = run(
      'claude',
      [init(), said('Chapter one.'), start, thinking, delta('Chapter'), delta(' two')],
      { timedOut: true, exitCode: 143 },
    );
    expect(reading).toMatchObject({
      ok: false,
      failure: { class: 'timeout' },
      partial: 'Chapter one.\n\nChapter two',
      began: 'no',
    });
  });

  test('the texts of one message are joined, and those of a subagent are ignored', () => {
    const sub = said('sub', {
      parent_tool_use_id: 'u-1',
      message: { id: 'm-9', content: [{ type: 'text', text: 'sub' }] },
    });
    expect(run('claude', [init(), said('One. '), said('Two.'), sub, result('')]).reading).toMatchObject({
      ok: true,
      text: 'One. Two.',
    });
  });

  test('tools are acts, the answer tool is none, and a tool that has not come back is running', () => {
    expect(
      run('claude', [init(), tool('u-1'), toolResult('u-1'), tool('u-2', 'Read')], {
        exitCode: null,
        signal: 'SIGKILL',
      }).reading,
    ).toMatchObject({ began: 'yes', toolCalls: 2, failure: { class: 'killed' } });
    expect(
      run(
        'claude',
        [init(), tool('u-1', 'StructuredOutput'), toolResult('u-1'), result('', { structured_output: { a: 1 } })],
        { check: () => [] },
      ).reading,
    ).toMatchObject({ ok: true, began: 'no', toolCalls: 0, structured: { a: 1 }, text: '{"a":1}' });
    expect(
      run(
        'claude',
        [
          init(),
          {
            type: 'stream_event',
            event: { type: 'content_block_start', content_block: { type: 'tool_use', id: 'u-1', name: 'Write' } },
          },
        ],
        { signal: 'SIGKILL', exitCode: null },
      ).reading.began,
    ).toBe('yes');
  });

  test('what was not read whole may hide an act', () => {
    expect(run('claude', '', { exitCode: null, signal: 'SIGKILL' }).reading.began).toBe('unknown');
    expect(
      run('claude', `${JSON.stringify(init())}\n{"type":"assis`, { exitCode: null, signal: 'SIGKILL' }).reading.began,
    ).toBe('unknown');
    expect(run('claude', '', { exitCode: 1 }, { err: 'Error: boom' }).reading.began).toBe('no');
    expect(run('claude', '', { exitCode: null, spawnError: 'ENOENT' }).reading.began).toBe('no');
  });

  test('an error body on a line of its own is the cause, when nothing follows it', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(run('claude', [init(), body], { exitCode: 1 }).reading).toMatchObject({ failure: { class: 'overloaded' } });
    expect(run('claude', [init(), body, said('Recovered.'), result('Recovered.')]).reading.ok).toBe(true);
  });

  test('a refusal does not count as an answer, whatever the error flag says', () => {
    const words = "You've hit your usage limit is what I will not write.";
    expect(run('claude', [init(), said(words), result(words, { stop_reason: 'refusal' })]).reading).toMatchObject({
      ok: false,
      failure: { class: 'content_refused' },
      partial: words,
    });
  });

  test('a session id that could be read as an option is none', () => {
    expect(
      run('claude', [init({ session_id: '--resume' }), result('a', { session_id: '--resume' })]).reading.session,
    ).toBe(null);
  });

  test('events glued onto one line are read, a torn one in front of them takes the line with it', () => {
    const glued = JSON.stringify(init()) + ' ' + JSON.stringify(result('glued'));
    expect(run('claude', glued).reading).toMatchObject({ ok: true, text: 'glued', session: 's-1' });
    expect(
      run('claude', `{"type":"assistant","message":{"content":"to${JSON.stringify(result('glued'))}`).reading.ok,
    ).toBe(false);
    expect(run('claude', `${glued}, and more`).reading.ok).toBe(false);
  });

  test('an event behind progress that overwrites itself is read', () => {
    expect(
      run('claude', `${JSON.stringify(init())}\n⠋ working\r⠙ working\r${JSON.stringify(result('behind'))}\n`).reading,
    ).toMatchObject({ ok: true, text: 'behind' });
  });

  test('a document laid out over lines is read like one line', () => {
    expect(run('claude', JSON.stringify(result('laid out'), null, 2)).reading).toMatchObject({
      ok: true,
      text: 'laid out',
      session: 's-1',
    });
    expect(run('claude', JSON.stringify([init(), result('listed')], null, 2)).reading).toMatchObject({
      ok: true,
      text: 'listed',
    });
  });
});

describe('plain text', () => {
  const limit = "You've hit your limit · resets 1pm (Europe/Lisbon)";

  test('that is nothing but a vendor sentence is a failure, with any exit code', () => {
    for (const exitCode of [0, 1])
      expect(run('claude', limit, { exitCode }, { mode: 'text' }).reading).toMatchObject({
        ok: false,
        failure: { class: 'usage_limit' },
      });
    expect(
      run('claude', 'Invalid API key · Please run /login', { exitCode: 0 }, { mode: 'text' }).reading,
    ).toMatchObject({ ok: false, failure: { class: 'auth' } });
  });

  test.each([
    ['API Error: Rate limit reached', 'rate_limit'],
    ['API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'overloaded'],
    ['API Error (Request timed out.)', 'transient'],
    ['Prompt is too long', 'deterministic'],
    ['API Error: Unable to connect to API (ECONNREFUSED)', 'transient'],
    ['API Error: The socket connection was closed unexpectedly.', 'transient'],
    ["API Error: Claude's response exceeded the 32000 output token maximum.", 'deterministic'],
    ['Error: Exceeded USD budget (0.01)', 'deterministic'],
    ['Execution error', 'transient'],
  ])('that is only "%s" is %s', (text, expected) => {
    for (const exitCode of [0, 1])
      expect(run('claude', text, { exitCode }, { mode: 'text' }).reading).toMatchObject({
        ok: false,
        failure: { class: expected },
      });
  });

  test('that speaks of limits is an answer', () => {
    for (const text of [
      'Done. The banner reads: ' + limit,
      `Two lines.\n${limit}`,
      "You've hit your usage limit banner is now translated.",
      'Usage limit reached handler added.',
    ]) {
      expect(run('claude', text, { exitCode: 0 }, { mode: 'text' }).reading).toMatchObject({ ok: true, text });
    }
  });

  test('that is a vendor sentence over several lines is a failure, with its reset', () => {
    for (const text of [
      "You've hit your limit ·\n  resets 5am (UTC)",
      '5-hour limit reached ∙ resets 5am\n     /upgrade to increase your usage limit.',
    ]) {
      for (const exitCode of [0, 1])
        expect(run('claude', text, { exitCode }, { mode: 'text' }).reading).toMatchObject({
          ok: false,
          failure: { class: 'usage_limit', resetsAt: '2026-11-30T05:00:00.000Z' },
          partial: null,
        });
    }
    expect(
      run('claude', `Two lines.\n${limit}\n/upgrade to do more`, { exitCode: 0 }, { mode: 'text' }).reading.ok,
    ).toBe(true);
    expect(
      run('claude', `Half the work.\n${limit}\n/upgrade to do more`, { exitCode: 1 }, { mode: 'text' }).reading,
    ).toMatchObject({ failure: { class: 'usage_limit' }, partial: 'Half the work.' });
  });

  test('with a vendor sentence at its end and a failed exit keeps the rest as a partial', () => {
    expect(run('claude', `Half the work.\n${limit}`, { exitCode: 1 }, { mode: 'text' }).reading).toMatchObject({
      ok: false,
      failure: { class: 'usage_limit' },
      partial: 'Half the work.',
    });
  });
});
