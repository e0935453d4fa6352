import { describe, expect, test } from 'vitest';
import { completed, failed, kinds, message, run, started, turn } from '../runs.js';

const reconnecting = (detail: string) => ({ type: 'error', message: `Reconnecting... 2/5 (${detail})` });
const command = (event: 'item.started' | 'item.completed', id: string, more: object = {}) => ({
  type: event,
  item: {
    id,
    type: 'command_execution',
    command: 'ls',
    aggregated_output: '',
    exit_code: event === 'item.completed' ? 0 : null,
    status: 'completed',
    ...more,
  },
});

describe('what the stream says while it runs', () => {
  test('the thread is the session, told once', () => {
    const { signals, reading } = run('codex', [started, turn, message('a'), completed], {}, { pieces: 30 });
    expect(signals[0]).toEqual({ kind: 'session', id: 't-1' });
    expect(signals.at(-1)).toEqual({ kind: 'final' });
    expect(reading.session).toBe('t-1');
  });

  test('reconnecting counts neither as progress nor as an end', () => {
    expect(kinds(run('codex', [reconnecting('waiting for network'), reconnecting('stream disconnected')]))).toEqual([]);
    expect(
      run('codex', [started, turn, reconnecting('stream disconnected'), message('made it'), completed]).reading,
    ).toMatchObject({ ok: true, text: 'made it' });
  });

  test('the first error line with a 429 asks for the end, whichever way it says so', () => {
    for (const text of [
      'exceeded retry limit, last status: 429 Too Many Requests',
      'Too Many Requests',
      'unexpected status 429',
    ]) {
      const { signals, reading } = run('codex', [started, turn, reconnecting(text), reconnecting(text)], {
        endedByUs: true,
        exitCode: 1,
      });
      expect(signals.filter(({ kind }) => kind === 'refused')).toHaveLength(1);
      expect(reading).toMatchObject({ ok: false, failure: { class: 'rate_limit' } });
    }
    expect(kinds(run('codex', [started, reconnecting('unexpected status 500: request id 429-abc')]))).not.toContain(
      'refused',
    );
  });
});

describe('what it came to', () => {
  test('the kind of the session file decides where the sentence is new', () => {
    expect(
      run('codex', [started, turn, ...failed('Something new happened.')], {
        exitCode: 1,
        sessionError: 'usage_limit_exceeded',
      }).reading,
    ).toMatchObject({ failure: { class: 'usage_limit', resetsAt: null } });
    expect(
      run('codex', [started, turn, ...failed('Something new happened.')], {
        exitCode: 1,
        sessionError: { http_connection_failed: { http_status_code: 401 } },
      }).reading,
    ).toMatchObject({ failure: { class: 'auth' } });
    expect(run('codex', [started, turn], { exitCode: 1, sessionError: 'server_overloaded' }).reading).toMatchObject({
      failure: { class: 'overloaded' },
    });
    expect(
      run('codex', [started, turn, message('fine'), completed], { sessionError: 'usage_limit_exceeded' }).reading.ok,
    ).toBe(true);
  });

  test('a notice after an error leaves the error in place; an answer clears it', () => {
    const error = { type: 'error', message: 'You’ve hit your usage limit. Try again in 2 hours.' };
    const notice = { type: 'item.completed', item: { id: 'item_0', type: 'error', message: 'a plugin is old' } };
    expect(run('codex', [started, turn, error, notice], { exitCode: 1 }).reading).toMatchObject({
      failure: { class: 'usage_limit' },
      began: 'no',
    });
    expect(run('codex', [started, turn, error, message('it went on')], { exitCode: 1 }).reading).toMatchObject({
      failure: { class: 'transient' },
    });
  });

  test('a raw error body is read: its sentence, code, status and reset', () => {
    const body = JSON.stringify({
      type: 'error',
      error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_in_seconds: 3600 },
      status_code: 429,
    });
    expect(run('codex', [started, turn, ...failed(body)], { exitCode: 1 }).reading).toMatchObject({
      failure: {
        class: 'usage_limit',
        resetsAt: '2026-11-30T00:20:30.000Z',
        words: 'The usage limit has been reached',
      },
    });
  });

  test('the last-message file helps where the stream lost the message, and nowhere else', () => {
    expect(run('codex', [started, turn, completed], { lastMessage: 'from the file' }).reading).toMatchObject({
      ok: true,
      text: 'from the file',
    });
    expect(
      run('codex', [started, turn, message('from the stream'), completed], { lastMessage: 'from the file' }).reading,
    ).toMatchObject({ ok: true, text: 'from the stream' });
    expect(
      run('codex', [started, turn, ...failed('boom')], { lastMessage: 'from the file', exitCode: 1 }).reading.ok,
    ).toBe(false);
    expect(run('codex', [started, turn], { lastMessage: 'from the file' }).reading.ok).toBe(false);
  });

  test('a turn all of whose commands died in the sandbox did nothing', () => {
    const dead = {
      aggregated_output: 'bwrap: No permissions to create a new namespace',
      exit_code: 1,
      status: 'failed',
    };
    const words = message('I could not look.', 'item_9');
    expect(run('codex', [started, command('item.completed', 'a', dead), words, completed]).reading).toMatchObject({
      failure: { class: 'environment' },
      partial: 'I could not look.',
    });
    expect(
      run('codex', [started, command('item.completed', 'a', dead), command('item.completed', 'b'), words, completed])
        .reading.ok,
    ).toBe(true);
    expect(
      run('codex', [
        started,
        command('item.completed', 'a', { ...dead, command: 'bwrap --ro-bind / / true' }),
        words,
        completed,
      ]).reading.ok,
    ).toBe(true);
    expect(
      run('codex', [
        started,
        command('item.completed', 'a', { ...dead, aggregated_output: 'the log says: bwrap: No permissions' }),
        words,
        completed,
      ]).reading.ok,
    ).toBe(true);
  });

  test('commands, file changes and calls are acts, counted once each', () => {
    const { reading } = run(
      'codex',
      [
        started,
        command('item.started', 'a'),
        command('item.completed', 'a'),
        { type: 'item.completed', item: { id: 'b', type: 'file_change', changes: [] } },
      ],
      { signal: 'SIGKILL', exitCode: null },
    );
    expect(reading).toMatchObject({ began: 'yes', toolCalls: 2, failure: { class: 'killed' } });
  });

  test('the form before 0.44 is read, and its usage limit with exit 0 is one', () => {
    const msg = (type: string, more: object = {}) => ({ id: '0', msg: { type, ...more } });
    expect(
      run('codex', [
        msg('task_started'),
        msg('exec_command_begin', { call_id: 'c' }),
        msg('exec_command_end', { call_id: 'c', exit_code: 0 }),
        msg('agent_message', { message: 'Hi.' }),
        msg('task_complete', { last_agent_message: 'Hi.' }),
      ]).reading,
    ).toMatchObject({ ok: true, text: 'Hi.', toolCalls: 1 });
    expect(
      run(
        'codex',
        [
          msg('task_started'),
          msg('error', {
            message:
              "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 hours 5 minutes.",
          }),
        ],
        { exitCode: 0 },
      ).reading,
    ).toMatchObject({ failure: { class: 'usage_limit', resetsAt: '2026-11-30T01:25:30.000Z' } });
    expect(
      run(
        'codex',
        [msg('task_started'), msg('error', { message: 'boom' }), msg('task_complete', { last_agent_message: null })],
        { exitCode: 0 },
      ).reading.ok,
    ).toBe(false);
  });

  test('events of no known form are said to be of another version, never an empty success', () => {
    expect(run('codex', [{ kind: 'begin' }, { kind: 'end', text: 'hello' }]).reading).toMatchObject({
      ok: false,
      failure: { class: 'environment', drift: true },
      began: 'unknown',
    });
  });
});
