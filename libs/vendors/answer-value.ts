import { isDeepStrictEqual } from 'node:util';
import type { AnswerCheck } from './adapter.js';
import { parseJson } from './json.js';

export type AnswerValue = { ok: true; value: unknown } | { ok: false; problems: string[] };

const CANDIDATES_MAX = 50;
/** Past this a text is taken whole or not at all: looking for fences in 20 MB is not worth its time. */
const SEARCH_MAX = 2_000_000;

/**
 * Finds the one value in an answer's text that fits. The whole text first; then fenced blocks; then objects and arrays
 * that stand in the prose. Two different values that both fit are none: a verdict must not be guessed.
 */
export function answerValue(text: string, check: AnswerCheck): AnswerValue {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const whole = parseJson(trimmed);
  if (whole.ok) return verdict(whole.value, check);
  if (trimmed.length > SEARCH_MAX) return { ok: false, problems: ['no JSON value in the answer'] };
  const fenced = fencedBlocks(trimmed)
    .map(parseJson)
    .filter((parsed) => parsed.ok)
    .map(({ value }) => value);
  const inFences = theOneThatFits(fenced, check);
  if (inFences) return inFences;
  const loose = embedded(trimmed);
  const inProse = theOneThatFits(loose, check);
  if (inProse) return inProse;
  const [candidate] = [...fenced, ...loose];
  return candidate === undefined
    ? { ok: false, problems: ['no JSON value in the answer'] }
    : { ok: false, problems: check(candidate) };
}

function verdict(value: unknown, check: AnswerCheck): AnswerValue {
  const problems = check(value);
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
}

function theOneThatFits(values: unknown[], check: AnswerCheck): AnswerValue | null {
  const fitting = values.filter((value) => check(value).length === 0);
  const [first, ...others] = fitting;
  if (first === undefined) return null;
  return others.every((other) => isDeepStrictEqual(other, first))
    ? { ok: true, value: first }
    : { ok: false, problems: ['several different values fit'] };
}

function fencedBlocks(text: string): string[] {
  return [...text.matchAll(/^[ \t]*(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?[ \t]*\1[ \t]*$/gm)]
    .slice(0, CANDIDATES_MAX)
    .map((match) => (match[2] ?? '').trim());
}

/** Outermost balanced objects and arrays of the text that parse. One pass, however broken it is. */
function embedded(text: string): unknown[] {
  const found: unknown[] = [];
  const closers: string[] = [];
  let start = -1;
  let inString = false;
  for (let i = 0; i < text.length && found.length < CANDIDATES_MAX; i++) {
    const char = text.charAt(i);
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
      continue;
    }
    if (char === '{' || char === '[') {
      if (closers.length === 0) start = i;
      closers.push(char === '{' ? '}' : ']');
    } else if (closers.length > 0 && char === '"') {
      inString = true;
    } else if (closers.length > 0 && char === closers[closers.length - 1]) {
      closers.pop();
      if (closers.length > 0) continue;
      const parsed = parseJson(text.slice(start, i + 1));
      if (parsed.ok) found.push(parsed.value);
    }
  }
  return found;
}
