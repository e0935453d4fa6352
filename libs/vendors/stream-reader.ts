import type { Began, RunReading } from '#contract';
import { classify, type RunFacts, type VendorCli } from '#policy/failure/index';
import type { ExitFacts, ReaderOptions, RunProgress, RunReader, StreamSignal } from './adapter.js';
import { answerValue } from './answer-value.js';
import type { EventFold, Folded } from './event-fold.js';
import { gluedObjects, isObject, parseJson, type JsonObject } from './json.js';
import { DEFAULT_LIMITS, LineSplitter } from './line-splitter.js';
import { LineTail, stripAnsi } from './line-tail.js';

/** A document that is laid out over several lines is kept up to this, until the first event is seen. */
const DOCUMENT_MAX = 1024 * 1024;

/**
 * Reads the JSON lines of one run: events go to the vendor's fold, all else on stdout is kept as evidence of a failed
 * start.
 *
 * States: reading → finished (by `finish`, once). While reading, nothing it holds grows with the output but one line,
 * one answer and the bounded tails.
 */
export class StreamReader implements RunReader {
  private readonly splitter: LineSplitter;
  private readonly stray = new LineTail();
  private readonly errors = new LineTail();
  /** Lines of a document laid out over several, null once it is clear that there is none. */
  private document: { lines: string[]; size: number } | null = { lines: [], size: 0 };
  private errorBytes = 0;
  private objects = 0;
  private known = 0;
  private floodTold = false;
  private readonly cli: VendorCli;
  private readonly fold: EventFold;

  constructor(cli: VendorCli, fold: EventFold, options: ReaderOptions = {}) {
    this.cli = cli;
    this.fold = fold;
    this.splitter = new LineSplitter({
      lineBytes: options.lineBytes ?? DEFAULT_LIMITS.lineBytes,
      totalBytes: options.totalBytes ?? DEFAULT_LIMITS.totalBytes,
    });
  }

  out(chunk: Uint8Array): StreamSignal[] {
    const signals = this.splitter.push(chunk).flatMap((line) => this.line(line));
    if (this.splitter.flooded && !this.floodTold) {
      this.floodTold = true;
      signals.push({ kind: 'flood', bytes: this.splitter.total });
    }
    return mergeProgress(signals);
  }

  err(chunk: Uint8Array): void {
    this.errorBytes += chunk.length;
    this.errors.push(chunk);
  }

  progress(): RunProgress {
    return this.fold.progress();
  }

  finish(exit: ExitFacts): RunReading {
    const rest = this.splitter.rest();
    const understood = this.known;
    if (rest !== null) this.line(rest);
    const torn = rest !== null && rest.trim() !== '' && this.known === understood;
    if (this.known === 0 && this.document !== null) this.wholeDocument(this.document.lines.join('\n'));
    const folded = this.fold.folded(exit);
    const answer = readAnswer(folded, exit);
    const facts: RunFacts = {
      cli: this.cli,
      ...processFacts(exit),
      terminal: folded.terminal,
      answer: answer.state,
      unfit: answer.problems,
      channel: folded.channel,
      lines: [...this.stray.last(), ...this.errors.last()],
      spoke: folded.spoke,
      sandboxBroken: folded.sandboxBroken,
      foreignBilling: exit.endedForBilling === true ? folded.foreignBilling : null,
      flooded: this.flooded(exit),
      unknownFormat: this.objects > 0 && this.known === 0,
    };
    const whole = this.known > 0 && !torn && this.splitter.dropped === 0 && !this.splitter.flooded;
    const began = beganOf(folded, exit, whole, this.splitter.total);
    const common = { usage: folded.usage, began, session: this.fold.progress().session, toolCalls: folded.toolCalls };
    return reading(facts, answer, folded, common);
  }

  /**
   * Bytes of the stream that was too much, null when all that matters was read. A last line that is too long to be read
   * is the answer of a CLI that then left by itself: it would be as long the next time.
   */
  private flooded(exit: ExitFacts): number | null {
    if (this.splitter.flooded || exit.flooded === true) return Math.max(this.splitter.total, this.errorBytes);
    return this.splitter.endsDropped && exit.signal === null ? this.splitter.total : null;
  }

  private line(line: string): StreamSignal[] {
    const text = stripAnsi(line).trim();
    if (text === '') return [];
    // Progress that overwrites itself: JSON never holds a bare carriage return.
    if (text.includes('\r')) return text.split('\r').flatMap((piece) => this.line(piece));
    const events = eventsIn(text);
    if (events.length === 0) {
      this.keepStray(line);
      return [];
    }
    const understood = this.known;
    const signals = events.flatMap((event) => this.event(event));
    if (this.known === understood) this.keepDocument(line);
    return signals;
  }

  private event(event: JsonObject): StreamSignal[] {
    this.objects += 1;
    const signals = this.fold.event(event);
    if (signals === null) return provesLife(event) ? [{ kind: 'progress' }] : [];
    this.known += 1;
    this.document = null;
    return signals;
  }

  private keepStray(line: string): void {
    this.stray.add(line.slice(0, 4096));
    this.keepDocument(line);
  }

  private keepDocument(line: string): void {
    const { document } = this;
    if (document === null || (document.lines.length === 0 && !/^\s*[{[]/.test(line))) return;
    document.size += line.length;
    document.lines.push(line);
    if (document.size > DOCUMENT_MAX) this.document = null;
  }

  /** `--output-format json` laid out over lines: one object, or one array of events. */
  private wholeDocument(text: string): void {
    const parsed = parseJson(stripAnsi(text).trim());
    if (!parsed.ok) return;
    for (const event of Array.isArray(parsed.value) ? (parsed.value as unknown[]) : [parsed.value]) {
      if (!isObject(event)) continue;
      this.objects += 1;
      if (this.fold.event(event) !== null) this.known += 1;
    }
  }
}

export type Answer = { state: RunFacts['answer']; text: string; value?: unknown; problems: string[] };

/** The content of a completed turn: a text, or a value that fits the schema that was asked for. */
export function readAnswer(
  folded: Pick<Folded, 'terminal' | 'text' | 'structured'>,
  exit: Pick<ExitFacts, 'check'>,
): Answer {
  const text = folded.text ?? '';
  const given = folded.structured !== undefined && folded.structured !== null;
  if (exit.check === null) {
    return text.trim() === ''
      ? { state: 'empty', text: '', problems: [] }
      : { state: 'usable', text, problems: [], ...(given ? { value: folded.structured } : {}) };
  }
  if (!given && text.trim() === '') return { state: 'empty', text: '', problems: [] };
  const problems = given ? exit.check(folded.structured) : [];
  const found = given
    ? ({ ok: problems.length === 0, value: folded.structured, problems } as const)
    : answerValue(text, exit.check);
  if (!found.ok) return { state: 'unfit', text, problems: found.problems };
  return { state: 'usable', text: JSON.stringify(found.value), value: found.value, problems: [] };
}

export function processFacts(
  exit: ExitFacts,
): Pick<
  RunFacts,
  'now' | 'hostTimeZone' | 'spawnError' | 'cwdExists' | 'exitCode' | 'signal' | 'timedOut' | 'silent' | 'endedByUs'
> {
  const { now, hostTimeZone, spawnError, cwdExists, exitCode, signal, timedOut, silent, endedByUs } = exit;
  return { now, hostTimeZone, spawnError, cwdExists, exitCode, signal, timedOut, silent, endedByUs };
}

export function reading(
  facts: RunFacts,
  answer: Answer,
  folded: Pick<Folded, 'partial' | 'text'>,
  common: Pick<RunReading, 'usage' | 'began' | 'session' | 'toolCalls'>,
): RunReading {
  const verdict = classify(facts);
  if (verdict.class === 'ok') {
    return { ok: true, text: answer.text, ...('value' in answer ? { structured: answer.value } : {}), ...common };
  }
  const { resetsAt } = verdict;
  return {
    ok: false,
    failure: {
      class: verdict.class,
      words: verdict.words,
      ...(resetsAt === undefined ? {} : { resetsAt: resetsAt === null ? null : new Date(resetsAt).toISOString() }),
      ...('boxWide' in verdict ? { boxWide: true as const } : {}),
      ...('drift' in verdict ? { drift: true as const } : {}),
    },
    partial: folded.partial,
    ...common,
  };
}

/** An event of a kind we don't know moves too, unless its name says that it only keeps a line open. */
function provesLife(event: JsonObject): boolean {
  return typeof event['type'] === 'string' && !/ping|keep_?alive|heart_?beat/i.test(event['type']);
}

/** The events on one line: one object, a list of them, or several with nothing between them. */
function eventsIn(line: string): JsonObject[] {
  const parsed = line.startsWith('{') || line.startsWith('[') ? parseJson(line) : ({ ok: false } as const);
  if (!parsed.ok) return /^\{.*\}\s*\{/s.test(line) ? gluedObjects(line) : [];
  const values: unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
  return values.filter(isObject);
}

/** `no` only where no tool ran for certain: it never started, all it printed was read, or it left without a word. */
function beganOf({ acted }: Pick<Folded, 'acted'>, exit: ExitFacts, whole: boolean, bytes: number): Began {
  if (acted) return 'yes';
  if (exit.spawnError !== null || whole) return 'no';
  const failed = exit.exitCode !== null && exit.exitCode !== 0;
  const cut = exit.signal !== null || exit.timedOut || exit.silent;
  return bytes === 0 && failed && !cut ? 'no' : 'unknown';
}

/** One `progress` a chunk says it all. */
function mergeProgress(signals: StreamSignal[]): StreamSignal[] {
  let told = false;
  return signals.filter((signal) => {
    if (signal.kind === 'final') told = false;
    if (signal.kind !== 'progress') return true;
    const first = !told;
    told = true;
    return first;
  });
}
