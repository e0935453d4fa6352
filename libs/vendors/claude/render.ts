import type { LogLine } from '#contract';
import { countOf, listOf, member, numberOf, textOf, type JsonObject } from '../json.js';
import { outputEnd, rendered, tokensText } from '../render-text.js';

const EDITS = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);
const ANSWER_TOOL = 'StructuredOutput';

/** One event of claude's stream-json. Deltas are left out: the whole message follows them. */
export function renderClaude(event: JsonObject): LogLine[] {
  switch (event['type']) {
    case 'system':
      return system(event);
    case 'stream_event':
      return [];
    case 'assistant':
      return assistant(event);
    case 'user':
      return blocksOf(event).flatMap(toolResult);
    case 'rate_limit_event': {
      const status = textOf(member(event['rate_limit_info'], 'status'));
      return status === null || status === 'allowed'
        ? []
        : [
            rendered(
              'note',
              `quota: ${status} (${textOf(member(event['rate_limit_info'], 'rateLimitType')) ?? 'window'})`,
            ),
          ];
    }
    case 'result':
      return [result(event)];
    case 'error':
      return [rendered('error', textOf(member(event['error'], 'message')) ?? textOf(event['error']) ?? 'an error')];
    default:
      return typeof event['type'] === 'string' ? [rendered('note', event['type'])] : [];
  }
}

function system(event: JsonObject): LogLine[] {
  switch (event['subtype']) {
    case 'init':
      return [
        rendered(
          'note',
          `session ${textOf(event['session_id']) ?? '?'}, ${textOf(event['model']) ?? 'model unknown'}, claude ${textOf(event['claude_code_version']) ?? '?'}`,
        ),
      ];
    case 'api_retry':
      return [
        rendered(
          'note',
          `retries: ${textOf(event['error']) ?? 'unknown'}${numberOf(event['error_status']) === null ? '' : ` (${String(event['error_status'])})`}`,
        ),
      ];
    case 'status':
      return [];
    default:
      return typeof event['subtype'] === 'string' ? [rendered('note', event['subtype'])] : [];
  }
}

function blocksOf(event: JsonObject): unknown[] {
  const content = member(event['message'], 'content');
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
}

function assistant(event: JsonObject): LogLine[] {
  const failed = textOf(event['error']) !== null || event['is_api_error_message'] === true;
  return blocksOf(event).flatMap((block) => {
    switch (member(block, 'type')) {
      case 'text':
        return [rendered(failed ? 'error' : 'message', textOf(member(block, 'text')) ?? '')];
      case 'tool_use':
        return [toolUse(textOf(member(block, 'name')) ?? 'a tool', member(block, 'input'))];
      default:
        return [];
    }
  });
}

function toolUse(name: string, input: unknown): LogLine {
  if (name === 'Bash') return rendered('command', `$ ${textOf(member(input, 'command')) ?? ''}`);
  const path =
    textOf(member(input, 'file_path')) ?? textOf(member(input, 'notebook_path')) ?? textOf(member(input, 'path'));
  if (EDITS.has(name)) return rendered('edit', `${name === 'Write' ? 'write' : 'change'} ${path ?? '?'}`);
  const about =
    path ??
    textOf(member(input, 'pattern')) ??
    textOf(member(input, 'query')) ??
    textOf(member(input, 'url')) ??
    textOf(member(input, 'description'));
  return rendered('tool', about === null || name === ANSWER_TOOL ? name : `${name} ${about}`);
}

function toolResult(block: unknown): LogLine[] {
  if (member(block, 'type') !== 'tool_result') return [];
  const content = member(block, 'content');
  const text =
    typeof content === 'string'
      ? content
      : listOf(content)
          .map((part) => textOf(member(part, 'text')) ?? '')
          .join('');
  const failed = member(block, 'is_error') === true;
  const said = outputEnd(text);
  return failed || said !== '' ? [rendered(failed ? 'error' : 'result', said === '' ? 'failed' : said)] : [];
}

function result(event: JsonObject): LogLine {
  const usage = event['usage'];
  const input =
    countOf(member(usage, 'input_tokens')) +
    countOf(member(usage, 'cache_creation_input_tokens')) +
    countOf(member(usage, 'cache_read_input_tokens'));
  const failed = event['is_error'] === true || (textOf(event['subtype']) ?? '').startsWith('error');
  if (failed) return rendered('error', textOf(event['result']) ?? textOf(event['subtype']) ?? 'it failed');
  return rendered('result', `done: ${tokensText(input, countOf(member(usage, 'output_tokens')))}`);
}
