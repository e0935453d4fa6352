import type { Usage } from '#contract';
import { SILENT_CHANNEL, type Channel } from '#policy/failure/index';
import type { ExitFacts, RunProgress, StreamSignal } from '../adapter.js';
import { ToolBook, partialOf, type EventFold, type Folded } from '../event-fold.js';
import { countOf, isObject, member, numberOf, sessionId, textOf, type JsonObject } from '../json.js';
import { codexChannel, isRefusal, isRetrying } from './error-facts.js';
import { LEGACY_TOOLS } from './legacy.js';
import { SandboxWatch } from './sandbox-watch.js';

const TOOL_ITEMS = new Set([
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'collab_tool_call',
  'web_search',
  'dynamic_tool_call',
]);
const ANSWER_ITEMS = new Set(['agent_message', 'assistant_message']);

/**
 * Adds up `codex exec --json`, and the form it had before 0.44 (`{id, msg}`).
 *
 * States: running → completed | failed by the last terminal event. An `error` line is pending until a terminal event
 * follows it; one that says it reconnects only tells that the CLI waits.
 */
export class CodexFold implements EventFold {
  private session: string | null = null;
  private model: string | null = null;
  private text: string | null = null;
  private draft = '';
  private steps = 0;
  private spoke = false;
  private readonly book = new ToolBook();
  private readonly sandbox = new SandboxWatch();
  private usage: Usage = null;

  private terminal: 'completed' | 'failed' | null = null;
  private failure: string | null = null;
  private pending: string | null = null;
  private retrying: string | null = null;
  private refusalTold = false;

  event(event: JsonObject): StreamSignal[] | null {
    const legacy = event['msg'];
    if (isObject(legacy) && typeof legacy['type'] === 'string') return this.legacy(legacy);
    switch (event['type']) {
      case 'thread.started':
        return [...this.sessionSignal(event['thread_id']), { kind: 'progress' }];
      case 'turn.started':
        return [{ kind: 'progress' }];
      case 'turn.completed':
        return this.completed(usageOf(event['usage']));
      case 'turn.failed':
        return this.failed(messageOf(event['error']) ?? messageOf(event));
      case 'error':
        return this.error(messageOf(event));
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        return isObject(event['item']) ? this.item(event['item'], event['type']) : [];
      default:
        return null;
    }
  }

  progress(): RunProgress {
    return {
      session: this.session,
      model: this.model,
      cliVersion: null,
      steps: this.steps,
      ...this.book.counts(),
      outputTokens: this.usage?.outputTokens ?? 0,
    };
  }

  folded(exit: ExitFacts): Folded {
    // The file is written from the same message; it only helps where the stream lost it.
    const text = this.text ?? exit.lastMessage;
    return {
      terminal: this.terminal,
      text: this.terminal === 'completed' ? text : null,
      usage: this.usage,
      partial: partialOf(this.text ?? this.draft),
      channel: this.channel(exit),
      toolCalls: this.book.calls,
      acted: this.book.acted,
      spoke: this.spoke,
      sandboxBroken: this.sandbox.broken(),
      foreignBilling: null,
    };
  }

  private channel({ sessionError, now }: ExitFacts): Channel {
    if (this.terminal === 'completed') return SILENT_CHANNEL;
    if (this.terminal === 'failed') return codexChannel('final', this.failure ?? this.pending ?? '', sessionError, now);
    if (this.pending !== null) return codexChannel('pending', this.pending, sessionError, now);
    if (this.retrying !== null) return codexChannel('retrying', this.retrying, sessionError, now);
    return sessionError === null || sessionError === undefined
      ? SILENT_CHANNEL
      : codexChannel('pending', '', sessionError, now);
  }

  private sessionSignal(value: unknown): StreamSignal[] {
    const id = this.session === null ? sessionId(value) : null;
    if (id === null) return [];
    this.session = id;
    return [{ kind: 'session', id }];
  }

  private completed(usage: Usage): StreamSignal[] {
    this.terminal = 'completed';
    if (usage !== null) this.usage = usage;
    return [{ kind: 'final' }];
  }

  private failed(message: string | null): StreamSignal[] {
    this.terminal = 'failed';
    this.failure = message ?? this.pending;
    return [{ kind: 'final' }];
  }

  private error(message: string | null, retries = false): StreamSignal[] {
    if (message === null) return [];
    const waits = retries || isRetrying(message);
    if (waits) this.retrying = message;
    else this.pending = message;
    const refused = isRefusal(message) && !this.refusalTold;
    if (refused) this.refusalTold = true;
    return [
      ...(waits ? [] : [{ kind: 'progress' } as const]),
      ...(refused ? [{ kind: 'refused', words: message.slice(0, 500) } as const] : []),
    ];
  }

  private item(item: JsonObject, event: 'item.started' | 'item.updated' | 'item.completed'): StreamSignal[] {
    // 0.43 called the member item_type.
    const type = textOf(item['type']) ?? textOf(item['item_type']) ?? '';
    const done = event === 'item.completed';
    if (type !== 'error') this.moved();
    if (done) this.steps += 1;
    if (ANSWER_ITEMS.has(type)) this.answer(textOf(item['text']) ?? '', done);
    if (TOOL_ITEMS.has(type)) {
      const id = textOf(item['id']);
      if (!done || id === null || !this.book.isOpen(id)) this.book.started(id, type);
      if (done) this.book.finished(id);
    }
    if (type === 'command_execution' && done)
      this.sandbox.command(
        textOf(item['command']) ?? '',
        textOf(item['aggregated_output']) ?? '',
        numberOf(item['exit_code']),
        textOf(item['status']),
      );
    return [{ kind: 'progress' }];
  }

  private answer(text: string, done: boolean): void {
    if (!done) this.draft = text;
    else if (text.trim() !== '') this.text = text;
  }

  /** The model answered: what was said of trouble before is over. */
  private moved(): void {
    this.spoke = true;
    this.pending = null;
    this.retrying = null;
  }

  /** Before 0.44: `{"id":"0","msg":{"type":…}}`, and two header lines. */
  private legacy(msg: JsonObject): StreamSignal[] {
    const type = textOf(msg['type']) ?? '';
    switch (type) {
      case 'session_configured':
        this.model = textOf(msg['model']);
        return [...this.sessionSignal(msg['session_id']), { kind: 'progress' }];
      case 'agent_message':
        this.moved();
        this.steps += 1;
        this.answer(textOf(msg['message']) ?? '', true);
        return [{ kind: 'progress' }];
      case 'token_count':
        this.usage = usageOf(member(member(msg, 'info'), 'total_token_usage')) ?? usageOf(msg) ?? this.usage;
        return [{ kind: 'progress' }];
      case 'task_complete': {
        const last = textOf(msg['last_agent_message']);
        if (last !== null && last.trim() !== '') this.text = last;
        // A turn that only erred is "complete" too there.
        return this.pending !== null && this.text === null ? this.failed(this.pending) : this.completed(null);
      }
      case 'error':
        return this.error(messageOf(msg));
      case 'stream_error':
        return this.error(messageOf(msg), true);
      case 'turn_aborted':
        this.pending = `turn aborted: ${textOf(msg['reason']) ?? 'unknown'}`;
        return [{ kind: 'progress' }];
      default:
        if (Object.hasOwn(LEGACY_TOOLS, type)) {
          this.moved();
          const id = textOf(msg['call_id']);
          if (LEGACY_TOOLS[type] === 'begin') this.book.started(id, type.replace(/_begin$/, ''));
          else this.book.finished(id);
          if (type === 'exec_command_end')
            this.sandbox.command(
              '',
              `${textOf(msg['stdout']) ?? ''}${textOf(msg['stderr']) ?? ''}`,
              numberOf(msg['exit_code']),
              null,
            );
        }
        return [{ kind: 'progress' }];
    }
  }
}

function messageOf(value: unknown): string | null {
  return textOf(member(value, 'message')) ?? textOf(value);
}

/** `input_tokens` holds the cached ones, `output_tokens` the reasoning: neither is added again. */
function usageOf(usage: unknown): Usage {
  if (!isObject(usage) || (numberOf(usage['input_tokens']) === null && numberOf(usage['output_tokens']) === null))
    return null;
  return { inputTokens: countOf(usage['input_tokens']), outputTokens: countOf(usage['output_tokens']) };
}
