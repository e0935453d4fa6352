import type { LogLine } from '#contract';
import { countOf, isObject, listOf, member, numberOf, textOf, type JsonObject } from '../json.js';
import { outputEnd, rendered, tokensText } from '../render-text.js';
import { isRetrying } from './error-facts.js';

/** One event of `codex exec --json`, also of the form before 0.44. */
export function renderCodex(event: JsonObject): LogLine[] {
  const legacy = event['msg'];
  if (isObject(legacy)) return renderLegacy(legacy);
  switch (event['type']) {
    case 'thread.started':
      return [rendered('note', `session ${textOf(event['thread_id']) ?? '?'}`)];
    case 'turn.started':
      return [];
    case 'item.started':
      return isObject(event['item']) ? started(event['item']) : [];
    case 'item.completed':
      return isObject(event['item']) ? completed(event['item']) : [];
    case 'item.updated':
      return [];
    case 'turn.completed':
      return [
        rendered(
          'result',
          `done: ${tokensText(countOf(member(event['usage'], 'input_tokens')), countOf(member(event['usage'], 'output_tokens')))}`,
        ),
      ];
    case 'turn.failed':
      return [rendered('error', textOf(member(event['error'], 'message')) ?? 'the turn failed')];
    case 'error':
      return [troubled(textOf(event['message']) ?? 'an error')];
    default:
      return typeof event['type'] === 'string' ? [rendered('note', event['type'])] : [];
  }
}

function troubled(message: string): LogLine {
  return rendered(isRetrying(message) ? 'note' : 'error', message);
}

function kindOf(item: JsonObject): string {
  return textOf(item['type']) ?? textOf(item['item_type']) ?? '';
}

function started(item: JsonObject): LogLine[] {
  switch (kindOf(item)) {
    case 'command_execution':
      return [rendered('command', `$ ${textOf(item['command']) ?? ''}`)];
    case 'mcp_tool_call':
      return [rendered('tool', `${textOf(item['server']) ?? 'mcp'}.${textOf(item['tool']) ?? '?'}`)];
    default:
      return [];
  }
}

function completed(item: JsonObject): LogLine[] {
  switch (kindOf(item)) {
    case 'agent_message':
    case 'assistant_message':
      return [rendered('message', textOf(item['text']) ?? '')];
    case 'reasoning':
      return [rendered('note', `thinks: ${textOf(item['text']) ?? ''}`)];
    case 'command_execution':
      return [commandEnd(numberOf(item['exit_code']), textOf(item['aggregated_output']) ?? '')];
    case 'file_change':
      return listOf(item['changes']).map((change) =>
        rendered('edit', `${textOf(member(change, 'kind')) ?? 'change'} ${textOf(member(change, 'path')) ?? '?'}`),
      );
    case 'web_search':
      return [rendered('tool', `searches the web: ${textOf(item['query']) ?? ''}`)];
    case 'mcp_tool_call':
      return item['status'] === 'failed' ? [rendered('error', `${textOf(item['tool']) ?? 'a tool'} failed`)] : [];
    case 'error':
      return [rendered('error', textOf(item['message']) ?? 'an error')];
    case 'todo_list':
    case 'plan':
      return [
        rendered(
          'note',
          `plan: ${listOf(item['items'])
            .map((one) => `${member(one, 'completed') === true ? '[x]' : '[ ]'} ${textOf(member(one, 'text')) ?? ''}`)
            .join(' ')}`,
        ),
      ];
    default:
      return [rendered('note', kindOf(item))];
  }
}

function commandEnd(exitCode: number | null, output: string): LogLine {
  const said = outputEnd(output);
  return rendered('result', `exit ${exitCode ?? '?'}${said === '' ? '' : `: ${said}`}`);
}

function renderLegacy(msg: JsonObject): LogLine[] {
  switch (msg['type']) {
    case 'session_configured':
      return [rendered('note', `session ${textOf(msg['session_id']) ?? '?'}`)];
    case 'agent_message':
      return [rendered('message', textOf(msg['message']) ?? '')];
    case 'exec_command_begin':
      return [rendered('command', `$ ${listOf(msg['command']).map(String).join(' ')}`)];
    case 'exec_command_end':
      return [commandEnd(numberOf(msg['exit_code']), `${textOf(msg['stdout']) ?? ''}${textOf(msg['stderr']) ?? ''}`)];
    case 'patch_apply_begin':
      return Object.keys(isObject(msg['changes']) ? msg['changes'] : {}).map((path) =>
        rendered('edit', `change ${path}`),
      );
    case 'error':
    case 'stream_error':
      return [troubled(textOf(msg['message']) ?? 'an error')];
    case 'task_complete':
      return [rendered('result', 'done')];
    default:
      return [];
  }
}
