import type { LogLine } from '#contract';
import { renderClaude } from './claude/render.js';
import { renderCodex } from './codex/render.js';
import { isObject, parseJson } from './json.js';
import { stripAnsi } from './line-tail.js';
import { rendered } from './render-text.js';

/**
 * What a vendor's CLI wrote on one line of its stdout, for people. Pure and without memory, so that any part of a run
 * can be shown by itself.
 */
export function renderLine(cli: 'codex' | 'claude', line: string): LogLine[] {
  const bare = stripAnsi(line).trim();
  if (bare === '') return [];
  const parsed = bare.startsWith('{') ? parseJson(bare) : ({ ok: false } as const);
  if (!parsed.ok || !isObject(parsed.value)) return [rendered('note', bare)];
  return cli === 'codex' ? renderCodex(parsed.value) : renderClaude(parsed.value);
}
