import { LineSplitter } from './line-splitter.js';

const LINES = 60;
const LINE_CHARS = 2000;
/** stderr is evidence of a failed start only; tracing logs of hundreds of KB were seen on it. */
const LIMITS = { lineBytes: 256 * 1024, totalBytes: Number.MAX_SAFE_INTEGER };

/** The last lines of a stream that is kept for people and for failed starts. */
export class LineTail {
  private readonly splitter = new LineSplitter(LIMITS);
  private lines: string[] = [];

  push(chunk: Uint8Array): void {
    for (const line of this.splitter.push(chunk)) this.add(line);
  }

  add(line: string): void {
    const shown = stripAnsi(line).trim();
    if (shown === '') return;
    this.lines.push(shown.slice(0, LINE_CHARS));
    if (this.lines.length > LINES * 2) this.lines = this.lines.slice(-LINES);
  }

  last(): string[] {
    const rest = this.splitter.rest();
    if (rest !== null) this.add(rest);
    return this.lines.slice(-LINES);
  }
}

const ANSI = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))|\u0000/g;

export function stripAnsi(text: string): string {
  return text.replace(ANSI, '').replace(/^\uFEFF/, '');
}
