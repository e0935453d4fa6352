import type { Path } from './shape.js';

/** What JSON.parse can't tell: the line of each value, keys that stand twice, and where and why a text is not JSON. */
export type JsonText =
  | { ok: true; value: unknown; lineOf(path: Path): number | null; twice: Path[] }
  | { ok: false; line: number; column: number; why: string };

/**
 * JSON as RFC 8259 has it, with no leniency: a file that one program reads and the next refuses is worse than an error.
 * Depth is bounded, so that no file can exhaust the stack.
 */
export function readJson(source: string): JsonText {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const scanner = new Scanner(text);
  const failure = scanner.run();
  if (failure) {
    const before = text.slice(0, failure.at);
    const line = before.split('\n').length;
    return { ok: false, line, column: failure.at - before.lastIndexOf('\n'), why: failure.why };
  }
  const lines = scanner.lines;
  return {
    ok: true,
    value: JSON.parse(text),
    lineOf: (path) => lines.get(JSON.stringify(path)) ?? null,
    twice: scanner.twice,
  };
}

type Failure = { at: number; why: string };
const MAX_DEPTH = 64;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b/y;

class Scanner {
  readonly lines = new Map<string, number>();
  readonly twice: Path[] = [];
  private at = 0;
  private line = 1;

  private readonly text: string;
  private readonly keys = new Map<Path, Set<string>>();

  constructor(text: string) {
    this.text = text;
  }

  run(): Failure | null {
    const failure = this.value([]);
    if (failure) return failure;
    this.blank();
    return this.at < this.text.length ? this.fail('something follows the end of the value') : null;
  }

  private value(path: Path): Failure | null {
    this.blank();
    this.lines.set(JSON.stringify(path), this.line);
    if (path.length > MAX_DEPTH) return this.fail('it is nested too deeply');
    const next = this.text[this.at];
    if (next === '{') return this.members(path, '}', () => this.member(path));
    if (next === '[') return this.members(path, ']', (i) => this.value([...path, i]));
    if (next === '"') return this.string() === null ? this.fail(this.brokenString()) : null;
    return this.take(SCALAR) === null ? this.fail(this.why()) : null;
  }

  private members(path: Path, close: string, one: (index: number) => Failure | null): Failure | null {
    this.at++;
    this.keys.set(path, new Set());
    for (let i = 0; ; i++) {
      this.blank();
      if (this.text[this.at] === close) {
        if (i > 0) return this.fail(`a comma stands before this ${close}`);
        this.at++;
        return null;
      }
      const failure = one(i);
      if (failure) return failure;
      this.blank();
      const after = this.text[this.at];
      if (after !== ',' && after !== close)
        return this.fail(
          this.at >= this.text.length ? `the file ends before its ${close}` : `a comma or ${close} is missing`,
        );
      this.at++;
      if (after === close) return null;
    }
  }

  private member(path: Path): Failure | null {
    if (this.text[this.at] !== '"')
      return this.fail(this.at >= this.text.length ? 'the file ends before its }' : this.keyWhy());
    const raw = this.string();
    if (raw === null) return this.fail(this.brokenString());
    const key = JSON.parse(raw) as string;
    const seen = this.keys.get(path);
    if (seen?.has(key)) this.twice.push([...path, key]);
    seen?.add(key);
    this.blank();
    if (this.text[this.at] !== ':') return this.fail(`a : is missing after ${raw.slice(0, 40)}`);
    this.at++;
    return this.value([...path, key]);
  }

  /** By steps: one expression for the whole of it needs stack for each character, and a prompt may have millions. */
  private string(): string | null {
    const begin = this.at;
    this.at++;
    for (;;) {
      const next = this.text[this.at];
      if (next === '"') return this.text.slice(begin, ++this.at);
      if (next === undefined || next < ' ' || (next === '\\' && this.take(ESCAPE) === null)) {
        this.at = begin;
        return null;
      }
      if (next !== '\\') this.at++;
    }
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0] ?? null;
    if (taken !== null) this.at += taken.length;
    return taken;
  }

  private blank(): void {
    for (; ; this.at++) {
      const next = this.text[this.at];
      if (next === '\n') this.line++;
      else if (next !== ' ' && next !== '\t' && next !== '\r') return;
    }
  }

  private fail(why: string): Failure {
    return { at: this.at, why };
  }

  private why(): string {
    if (this.at >= this.text.length)
      return this.text.trim() === '' ? 'the file is empty' : 'the file ends where a value should be';
    const next = this.text[this.at] ?? '';
    if (next === '/' || next === '#') return 'comments are not JSON';
    if (next === "'") return 'texts need double quotes';
    return `no value begins with ${JSON.stringify(next)}`;
  }

  private keyWhy(): string {
    const next = this.text[this.at] ?? '';
    if (next === '/' || next === '#') return 'comments are not JSON';
    return 'keys need double quotes';
  }

  private brokenString(): string {
    const end = this.text.indexOf('"', this.at + 1);
    const lineEnd = this.text.indexOf('\n', this.at);
    return end === -1 || (lineEnd !== -1 && end > lineEnd)
      ? 'this text has no closing quote on its line'
      : 'this text holds a character or an escape that JSON does not allow';
  }
}
