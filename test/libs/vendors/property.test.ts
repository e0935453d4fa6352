import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completed, init, message, result, run, said, started, turn } from './runs.js';

/** Fragments of every failure there is, and anything else: inside a success they are the agent's work. */
const scary = fc.constantFrom(
  ...[
    "You've hit your usage limit. Try again at 3:28 PM.",
    'Claude AI usage limit reached|1795151700',
    "You've hit your session limit · resets 3pm (UTC)",
    '5-hour limit reached ∙ resets 3am',
    'Not logged in · Please run /login',
  ],
  ...[
    'API Error: 529 Overloaded',
    'exceeded retry limit, last status: 429 Too Many Requests',
    'Reconnecting... 2/5',
    'No space left on device (os error 28)',
    'bwrap: No permissions to create a new namespace',
    'Prompt is too long',
    'Credit balance is too low',
  ],
  ...[
    '{"type":"turn.failed","error":{"message":"429"}}',
    '{"type":"result","is_error":true,"api_error_status":429}',
    '{"type":"error","message":"usage limit"}',
    '\n{"type":"system","subtype":"api_retry","error_status":429}\n',
    'No response requested.',
    '```json\n{}\n```',
    '\u001b[31m',
    '\r\n',
    '\u2028',
  ],
);
const anyText = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.array(fc.oneof(scary, fc.string()), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(' ')),
  )
  .filter((text) => text.trim() !== '');
const exits = fc.constantFrom(
  { exitCode: 0 },
  { exitCode: 1 },
  { exitCode: 143, signal: null, timedOut: true },
  { exitCode: null, signal: 'SIGKILL', silent: true },
  { exitCode: 143, endedByUs: true },
);

describe('any text whatever inside a success transcript is a success', () => {
  test('of claude', () => {
    fc.assert(
      fc.property(anyText, anyText, exits, fc.integer({ min: 1, max: 40 }), (before, text, exit, pieces) => {
        const { reading } = run(
          'claude',
          [
            init(),
            said(before),
            {
              type: 'user',
              message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'u1', content: before }] },
            },
            said(text, { message: { id: 'm-2', content: [{ type: 'text', text }] } }),
            result(text),
          ],
          exit,
          { err: before, pieces },
        );
        expect(reading).toMatchObject({ ok: true, text });
      }),
      { numRuns: 1000 },
    );
  });

  test('of codex', () => {
    fc.assert(
      fc.property(anyText, anyText, exits, fc.integer({ min: 1, max: 40 }), (before, text, exit, pieces) => {
        const command = {
          type: 'item.completed',
          item: {
            id: 'item_1',
            type: 'command_execution',
            command: 'cat log',
            aggregated_output: `$ ${before}`,
            exit_code: 1,
            status: 'failed',
          },
        };
        const { reading } = run(
          'codex',
          [started, turn, message(before), command, message(text, 'item_2'), completed],
          exit,
          { err: before, pieces },
        );
        expect(reading).toMatchObject({ ok: true, text });
      }),
      { numRuns: 1000 },
    );
  });
});

test('any bytes whatever never throw, in either reader, in either mode', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('claude' as const, 'codex' as const),
      fc.constantFrom('stream' as const, 'text' as const),
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc.array(fc.json()).map((lines) => lines.join('\n')),
      ),
      exits,
      (kind, mode, out, exit) => {
        const { reading } = run(kind, out, exit, { mode });
        expect(typeof reading.ok).toBe('boolean');
      },
    ),
    { numRuns: 1500 },
  );
});

test('events of every known type with members of any type never throw', () => {
  const claude = fc.record(
    {
      type: fc.constantFrom('system', 'assistant', 'user', 'result', 'stream_event', 'rate_limit_event'),
      subtype: fc.oneof(fc.constantFrom('init', 'api_retry', 'success'), fc.jsonValue()),
      message: fc.jsonValue(),
      event: fc.jsonValue(),
      result: fc.jsonValue(),
      is_error: fc.jsonValue(),
      usage: fc.jsonValue(),
      rate_limit_info: fc.jsonValue(),
      errors: fc.jsonValue(),
      error: fc.jsonValue(),
      api_error_status: fc.jsonValue(),
      session_id: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  );
  const codex = fc.record(
    {
      type: fc.constantFrom(
        'thread.started',
        'turn.completed',
        'turn.failed',
        'error',
        'item.completed',
        'item.started',
      ),
      item: fc.oneof(
        fc.jsonValue(),
        fc.record({
          type: fc.constantFrom('agent_message', 'command_execution', 'error'),
          id: fc.jsonValue(),
          text: fc.jsonValue(),
          aggregated_output: fc.jsonValue(),
          exit_code: fc.jsonValue(),
        }),
      ),
      error: fc.jsonValue(),
      message: fc.jsonValue(),
      usage: fc.jsonValue(),
      msg: fc.jsonValue(),
      thread_id: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(fc.array(claude, { maxLength: 8 }), exits, (events, exit) => void run('claude', events, exit)),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(fc.array(codex, { maxLength: 8 }), exits, (events, exit) => void run('codex', events, exit)),
    { numRuns: 1000 },
  );
});
