import type { LogLine } from '#contract';
import { stripAnsi } from './line-tail.js';

/** Longer texts are cut; `--raw` shows them whole. */
const TEXT_MAX = 2_000;

export function rendered(kind: LogLine['kind'], text: string): LogLine {
  const line = oneLine(text);
  return {
    kind,
    text: line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX)}… (+${line.length - TEXT_MAX} characters)` : line,
  };
}

/**
 * An agent's text on one line of a terminal: line ends are shown, and what would move the cursor, colour the rest or
 * turn the direction of reading is left out.
 */
export function oneLine(text: string): string {
  return stripAnsi(text)
    .trim()
    .replace(/\s*\r?\n\s*/g, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** The end of a command's output says most; what is in front of it is counted. */
const OUTPUT_MAX = 300;

export function outputEnd(output: string): string {
  const line = oneLine(output);
  return line.length > OUTPUT_MAX ? `…(+${line.length - OUTPUT_MAX} characters) ${line.slice(-OUTPUT_MAX)}` : line;
}

export function tokensText(input: number, output: number): string {
  return `${input} tokens in, ${output} out`;
}
