import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogLine } from '#contract';
import { oneLine, renderLine } from '#vendors';

const SAMPLES = new URL('../../vendor-sim/samples/', import.meta.url).pathname;

function sample(cli: 'codex' | 'claude', scenario: string): string[] {
  const lines = readFileSync(join(SAMPLES, cli, `${scenario}.jsonl`), 'utf8').split('\n');
  return lines.flatMap((line) => renderLine(cli, line)).map(({ kind, text }) => `${kind}: ${text}`);
}
const texts = (cli: 'codex' | 'claude', event: object): LogLine[] => renderLine(cli, JSON.stringify(event));

describe('what the real CLIs wrote', () => {
  test('codex: a command, its end, the message and the sum', () => {
    const lines = sample('codex', 'tool');
    expect(lines[0]).toBe('note: session 00000000-0000-4000-8000-000000000001');
    expect(lines.slice(1, 3)).toEqual([
      "command: $ /bin/bash -lc 'echo written-by-codex > sim-out.txt && cat sim-out.txt'",
      'result: exit 0: written-by-codex',
    ]);
    expect(lines[3]).toMatch(/^message: tool finished: /);
    expect(lines.slice(4)).toEqual(['result: done: 2400 tokens in, 66 out']);
  });

  test('claude: the same', () => {
    const lines = sample('claude', 'tool');
    expect(lines[0]).toMatch(/^note: session .*, claude 2\.1\.332$/);
    expect(lines).toContain('command: $ echo written-by-claude > sim-out.txt && cat sim-out.txt');
    expect(lines).toContain('result: written-by-claude');
    expect(lines.filter((line) => line.startsWith('message: tool finished'))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/^result: done: \d+ tokens in, \d+ out$/);
  });

  test.each(['codex', 'claude'] as const)('%s: a failure is an error line, a retry a note', (cli) => {
    const limit = sample(cli, 'usage-limit');
    expect(limit.some((line) => /^error: You.ve hit your/.test(line))).toBe(true);
    const retried = sample(cli, 'server-error');
    expect(retried.some((line) => /^note: (Reconnecting|retries)/.test(line))).toBe(true);
    expect(retried.at(-1)).toMatch(/^error: /);
  });

  test('every line of every sample is one line, and none is empty or a control character', () => {
    for (const cli of ['codex', 'claude'] as const) {
      for (const name of readdirSync(join(SAMPLES, cli)).filter(
        (file) => file.endsWith('.jsonl') && !file.endsWith('.rollout.jsonl'),
      )) {
        const lines = sample(cli, name.replace('.jsonl', ''));
        expect(lines.length, name).toBeGreaterThan(0);
        for (const line of lines) expect(line, name).toMatch(/^[a-z]+: [^\p{Cc}]+$/u);
      }
    }
  });
});

test('edits, tools, plans and plain lines are shown by what they are about', () => {
  expect(
    texts('claude', {
      type: 'assistant',
      message: {
        content: [
          { type: 'tool_use', name: 'Edit', input: { file_path: '/a/b.ts' } },
          { type: 'tool_use', name: 'Write', input: { file_path: '/a/c.ts' } },
          { type: 'tool_use', name: 'Grep', input: { pattern: 'x+' } },
        ],
      },
    }),
  ).toEqual([
    { kind: 'edit', text: 'change /a/b.ts' },
    { kind: 'edit', text: 'write /a/c.ts' },
    { kind: 'tool', text: 'Grep x+' },
  ]);
  expect(
    texts('codex', {
      type: 'item.completed',
      item: {
        type: 'file_change',
        changes: [
          { path: 'a.ts', kind: 'update' },
          { path: 'b.ts', kind: 'add' },
        ],
      },
    }),
  ).toEqual([
    { kind: 'edit', text: 'update a.ts' },
    { kind: 'edit', text: 'add b.ts' },
  ]);
  expect(
    texts('codex', {
      type: 'item.completed',
      item: {
        type: 'todo_list',
        items: [
          { text: 'look', completed: true },
          { text: 'act', completed: false },
        ],
      },
    }),
  ).toEqual([{ kind: 'note', text: 'plan: [x] look [ ] act' }]);
  expect(texts('codex', { id: '0', msg: { type: 'exec_command_begin', command: ['ls', '-l'] } })).toEqual([
    { kind: 'command', text: '$ ls -l' },
  ]);
  expect(renderLine('codex', 'Reading prompt from stdin...')).toEqual([
    { kind: 'note', text: 'Reading prompt from stdin...' },
  ]);
  expect(texts('claude', { type: 'tomorrow' })).toEqual([{ kind: 'note', text: 'tomorrow' }]);
});

test('an agent cannot move the cursor, colour the rest, or turn the text round', () => {
  expect(oneLine('a\u001b[2J\u001b]0;title\u0007b\r\nc\u202ed\u0000\u009b')).toBe('ab ⏎ cd');
  const [line] = texts('codex', {
    type: 'item.completed',
    item: { type: 'agent_message', text: '\u001b[31mred\nsecond' },
  });
  expect(line).toEqual({ kind: 'message', text: 'red ⏎ second' });
});

test('a very long text is cut with the number of characters that are left out', () => {
  const [line] = texts('codex', { type: 'item.completed', item: { type: 'agent_message', text: 'x'.repeat(2_500) } });
  expect(line?.text).toMatch(/^x{2000}… \(\+500 characters\)$/);
  const [output] = texts('codex', {
    type: 'item.completed',
    item: { type: 'command_execution', aggregated_output: `${'x'.repeat(5_000)} the end`, exit_code: 1 },
  });
  expect(output?.text).toMatch(/^exit 1: …\(\+\d+ characters\) x+ the end$/);
});

test('any line whatever gives whole lines and never throws', () => {
  const known = fc.constantFrom(
    'item.started',
    'item.completed',
    'error',
    'turn.failed',
    'turn.completed',
    'assistant',
    'user',
    'system',
    'result',
    'rate_limit_event',
    'stream_event',
  );
  const members = fc.constantFrom(
    'item',
    'message',
    'error',
    'usage',
    'content',
    'subtype',
    'result',
    'rate_limit_info',
    'msg',
    'changes',
    'command',
  );
  const event = fc
    .tuple(known, fc.dictionary(members, fc.jsonValue()))
    .map(([type, rest]) => JSON.stringify({ ...rest, type }));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        event,
        fc.jsonValue().map((value) => JSON.stringify(value)),
      ),
      fc.constantFrom('codex' as const, 'claude' as const),
      (line, cli) => {
        for (const { text } of renderLine(cli, line)) expect(text).not.toMatch(/[\n\r\u001b]/);
      },
    ),
    { numRuns: 2_000 },
  );
});
