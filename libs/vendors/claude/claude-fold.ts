import type { Usage } from '#contract';
import { SILENT_CHANNEL } from '#policy/failure/index';
import type { RunProgress, StreamSignal } from '../adapter.js';
import { PARTIAL_MAX, ToolBook, partialOf, type EventFold, type Folded } from '../event-fold.js';
import { countOf, isObject, listOf, member, numberOf, sessionId, textOf, type JsonObject } from '../json.js';
import { TextTail } from '../text-tail.js';
import {
  failedResult,
  isRefusal,
  rawError,
  retryOf,
  retryWords,
  syntheticError,
  unfinishedChannel,
  type Retry,
  type SyntheticError,
} from './error-facts.js';

/** The tool by which the CLI takes a schema answer: not an act. */
const ANSWER_TOOL = 'StructuredOutput';
/** Key sources that mean the subscription's own login. */
const SUBSCRIPTION_SOURCES = new Set(['none', 'oauth']);
/** System lines during which nothing moves. */
const WAITING = new Set(['status', 'api_retry']);
const STEPS_MAX = 10_000;

/**
 * Adds up claude's stream-json events (its json document is the same result event).
 *
 * States: running → resulted; a later result replaces an earlier one (a background task may start another turn), but an
 * error result without a turn of its own after a success is an artefact and changes nothing.
 */
export class ClaudeFold implements EventFold {
  private session: string | null = null;
  private model: string | null = null;
  private cliVersion: string | null = null;
  private foreignBilling: string | null = null;
  private refusalTold = false;

  private text = '';
  private textOf: string | null = null;
  private readonly draft = new TextTail(PARTIAL_MAX);
  private spoke = false;
  private readonly steps = new Set<string>();
  private readonly book = new ToolBook([ANSWER_TOOL]);
  private outputTokens = 0;

  private synthetic: SyntheticError | null = null;
  private retry: Retry | null = null;
  private limit: unknown = null;
  private result: JsonObject | null = null;

  event(event: JsonObject): StreamSignal[] | null {
    const signals = this.byType(event);
    if (signals === null) return null;
    const id = this.session === null ? sessionId(event['session_id']) : null;
    if (id === null) return signals;
    this.session = id;
    return [{ kind: 'session', id }, ...signals];
  }

  progress(): RunProgress {
    return {
      session: this.session,
      model: this.model,
      cliVersion: this.cliVersion,
      steps: this.steps.size,
      ...this.book.counts(),
      outputTokens: this.outputTokens,
    };
  }

  folded(): Folded {
    const common = {
      toolCalls: this.book.calls,
      acted: this.book.acted,
      spoke: this.spoke,
      sandboxBroken: false,
      foreignBilling: this.foreignBilling,
    };
    const { result } = this;
    const unfinished = [this.text, this.draft.text()].filter((text) => text.trim() !== '').join('\n\n');
    if (result === null)
      return {
        ...common,
        terminal: null,
        text: null,
        usage: null,
        partial: partialOf(unfinished),
        channel: unfinishedChannel(this.synthetic, this.retry, this.limit),
      };
    const said = textOf(result['result']) ?? '';
    // After an error line of the CLI's own, a result that says nothing else is that error.
    const repeatsError = this.synthetic !== null && (said.trim() === '' || said === this.synthetic.words);
    if (isFailed(result) || repeatsError)
      return {
        ...common,
        terminal: 'failed',
        text: null,
        usage: usageOf(result['usage'], true),
        partial: partialOf(unfinished),
        channel: failedResult(result, this.synthetic, this.limit),
      };
    const structured = result['structured_output'];
    return {
      ...common,
      terminal: 'completed',
      text: said.trim() === '' ? this.text : said,
      ...(structured === undefined ? {} : { structured }),
      usage: usageOf(result['usage'], false),
      partial: partialOf(said),
      channel: SILENT_CHANNEL,
    };
  }

  private byType(event: JsonObject): StreamSignal[] | null {
    switch (event['type']) {
      case 'system':
        return this.system(event);
      case 'stream_event':
        return this.streamEvent(event);
      case 'assistant':
        return this.assistant(event);
      case 'user':
        for (const block of listOf(member(event['message'], 'content'))) {
          if (member(block, 'type') === 'tool_result') this.book.finished(textOf(member(block, 'tool_use_id')));
        }
        return [{ kind: 'progress' }];
      case 'rate_limit_event':
        this.limit = event['rate_limit_info'];
        return [{ kind: 'rate-limit-event', info: event['rate_limit_info'] }];
      case 'result':
        return this.resulted(event);
      case 'error':
        this.synthetic = rawError(event);
        return [{ kind: 'progress' }];
      default:
        return null;
    }
  }

  private system(event: JsonObject): StreamSignal[] {
    if (event['subtype'] === 'init') {
      this.model = textOf(event['model']);
      this.cliVersion = textOf(event['claude_code_version']);
      const source = textOf(event['apiKeySource']);
      if (source === null || SUBSCRIPTION_SOURCES.has(source)) return [{ kind: 'progress' }];
      this.foreignBilling = source;
      return [{ kind: 'progress' }, { kind: 'foreign-billing', source }];
    }
    if (event['subtype'] !== 'api_retry')
      return WAITING.has(textOf(event['subtype']) ?? '') ? [] : [{ kind: 'progress' }];
    this.retry = retryOf(event);
    if (!isRefusal(this.retry) || this.refusalTold) return [];
    this.refusalTold = true;
    return [{ kind: 'refused', words: retryWords(this.retry) }];
  }

  private streamEvent(event: JsonObject): StreamSignal[] {
    const raw = event['event'];
    const main = event['parent_tool_use_id'] == null;
    switch (member(raw, 'type')) {
      case 'ping':
        return [];
      case 'message_start':
        if (main) this.draft.clear();
        break;
      case 'content_block_start':
        if (member(member(raw, 'content_block'), 'type') === 'tool_use')
          this.book.announced(textOf(member(member(raw, 'content_block'), 'name')));
        break;
      case 'content_block_delta': {
        this.moved();
        const delta = member(raw, 'delta');
        // Thinking is never part of a partial: a model passes through conclusions there that it discards.
        if (main && member(delta, 'type') === 'text_delta') this.draft.add(textOf(member(delta, 'text')) ?? '');
        break;
      }
      case 'message_delta':
        this.outputTokens += countOf(member(member(raw, 'usage'), 'output_tokens'));
        break;
    }
    return [{ kind: 'progress' }];
  }

  private assistant(event: JsonObject): StreamSignal[] {
    const message = event['message'];
    const content = member(message, 'content');
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
    const text = blocks
      .map((block) => (member(block, 'type') === 'text' ? (textOf(member(block, 'text')) ?? '') : ''))
      .join('');
    const error = syntheticError(event, text);
    if (error) {
      this.synthetic = error;
      return [{ kind: 'progress' }];
    }
    // Made up by the CLI as well ("No response requested."): never an answer, and no error either.
    if (member(message, 'model') === '<synthetic>') return [];
    this.moved();
    this.countStep(textOf(event['request_id']) ?? textOf(member(message, 'id')));
    for (const block of blocks) {
      if (member(block, 'type') === 'tool_use')
        this.book.started(textOf(member(block, 'id')), textOf(member(block, 'name')) ?? 'unknown');
    }
    if (event['parent_tool_use_id'] == null && text !== '') this.mainText(text, textOf(member(message, 'id')));
    return [{ kind: 'progress' }];
  }

  /** One event a content block: texts of one message belong together. */
  private mainText(text: string, message: string | null): void {
    this.text = message !== null && message === this.textOf ? this.text + text : text;
    this.textOf = message;
    this.draft.clear();
  }

  /** The model answered: what was said of trouble before is over. */
  private moved(): void {
    this.spoke = true;
    this.retry = null;
    this.synthetic = null;
    if (member(this.limit, 'status') === 'rejected') this.limit = null;
  }

  private countStep(id: string | null): void {
    if (id !== null && this.steps.size < STEPS_MAX) this.steps.add(id);
  }

  private resulted(event: JsonObject): StreamSignal[] {
    const artefact =
      this.result !== null &&
      !isFailed(this.result) &&
      isFailed(event) &&
      countOf(event['num_turns']) === 0 &&
      countOf(event['duration_api_ms']) === 0 &&
      numberOf(event['api_error_status']) === null;
    if (!artefact) this.result = event;
    return [{ kind: 'final' }];
  }
}

/**
 * `subtype` is "success" on API errors, and `is_error` false on a spent turn limit of older versions and on a refusal:
 * all must be clear of it.
 */
function isFailed(result: JsonObject): boolean {
  return (
    result['is_error'] === true ||
    result['is_error'] === 'true' ||
    (textOf(result['subtype']) ?? '').startsWith('error') ||
    result['stop_reason'] === 'refusal'
  );
}

/**
 * Every prompt token once: what was sent, written to the cache, and read from it. Zeros of a refused request mean "none
 * known".
 */
function usageOf(usage: unknown, failed: boolean): Usage {
  if (!isObject(usage)) return null;
  const known = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].some(
    (name) => numberOf(usage[name]) !== null,
  );
  const inputTokens =
    countOf(usage['input_tokens']) +
    countOf(usage['cache_creation_input_tokens']) +
    countOf(usage['cache_read_input_tokens']);
  const outputTokens = countOf(usage['output_tokens']);
  return known && !(failed && inputTokens + outputTokens === 0) ? { inputTokens, outputTokens } : null;
}
