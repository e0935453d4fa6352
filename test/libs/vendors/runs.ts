import type { RunReading } from '#contract';
import { adapterFor, type ExitFacts, type ReaderOptions, type StreamSignal } from '#vendors';

export const NOW = Date.parse('2026-11-29T23:20:30Z');

export function exitFacts(more: Partial<ExitFacts> = {}): ExitFacts {
  return {
    exitCode: 0,
    signal: null,
    timedOut: false,
    silent: false,
    endedByUs: false,
    spawnError: null,
    cwdExists: true,
    now: NOW,
    hostTimeZone: 'UTC',
    lastMessage: null,
    sessionError: null,
    check: null,
    ...more,
  };
}

export type Run = { reading: RunReading; signals: StreamSignal[] };

/** Feeds a whole run to a fresh reader, in one chunk or in pieces. */
export function run(
  kind: 'codex' | 'claude',
  out: string | unknown[],
  exit: Partial<ExitFacts> = {},
  more: ReaderOptions & { err?: string; pieces?: number } = {},
): Run {
  const { err = '', pieces, ...options } = more;
  const reader = adapterFor(kind).reader(options);
  const bytes = Buffer.from(typeof out === 'string' ? out : out.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const size = pieces ?? Math.max(1, bytes.length);
  const signals: StreamSignal[] = [];
  for (let start = 0; start < bytes.length; start += size)
    signals.push(...reader.out(bytes.subarray(start, start + size)));
  reader.err(Buffer.from(err));
  return { reading: reader.finish(exitFacts(exit)), signals };
}

export const kinds = ({ signals }: Run) => signals.map(({ kind }) => kind);

export const init = (more: object = {}) => ({
  type: 'system',
  subtype: 'init',
  session_id: 's-1',
  model: 'claude-sonnet-5',
  apiKeySource: 'none',
  claude_code_version: '2.1.332',
  ...more,
});
export const said = (text: string, more: object = {}) => ({
  type: 'assistant',
  message: { id: 'm-1', role: 'assistant', model: 'claude-sonnet-5', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  session_id: 's-1',
  ...more,
});
export const result = (text: string, more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  num_turns: 1,
  duration_api_ms: 700,
  result: text,
  session_id: 's-1',
  usage: { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 4 },
  ...more,
});
export const synthetic = (text: string, error: string, more: object = {}) => ({
  type: 'assistant',
  message: { id: 'm-x', model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] },
  error,
  is_api_error_message: true,
  session_id: 's-1',
  ...more,
});

export const started = { type: 'thread.started', thread_id: 't-1' };
export const turn = { type: 'turn.started' };
export const message = (text: string, id = 'item_0') => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text },
});
export const completed = {
  type: 'turn.completed',
  usage: { input_tokens: 100, cached_input_tokens: 50, output_tokens: 5 },
};
export const failed = (text: string) => [
  { type: 'error', message: text },
  { type: 'turn.failed', error: { message: text } },
];
