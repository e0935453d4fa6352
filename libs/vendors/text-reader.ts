import type { RunReading } from '#contract';
import {
  SILENT_CHANNEL,
  WHOLE_OUTPUT_TEXTS,
  plainText,
  textClass,
  type RunFacts,
  type VendorCli,
} from '#policy/failure/index';
import type { ExitFacts, ReaderOptions, RunProgress, RunReader, StreamSignal } from './adapter.js';
import { partialOf } from './event-fold.js';
import { DEFAULT_LIMITS } from './line-splitter.js';
import { LineTail, stripAnsi } from './line-tail.js';
import { processFacts, readAnswer, reading } from './stream-reader.js';

/** A vendor's sentence in place of an answer is one line of this length at most. */
const SENTENCE_MAX = 400;
/** Sentences that begin as only the CLI begins them; which failure they are the classifier finds out. */
const CLI_SENTENCE = {
  claude:
    /^(?:api error(?:: (?:\d{3}\b|\{|rate limit reached|request (?:rejected|timed out|was aborted)|server is temporarily|connection\b|unable to connect|fetch failed|terminated$|the socket connection|network error|internal server error|overloaded\b|repeated \d{3}\b|extra usage|claude(?:'s response)? )| \()|exceeded usd budget\b|(?:prompt is too long|context limit reached)(?: ·|$)|there's an issue with the selected model|request timed out\.?$|execution error$|reached max turns\b|repeated 529\b)/i,
  codex:
    /^(?:exceeded retry limit, last status:|unexpected status \d{3} |stream disconnected before completion:|selected model is at capacity\b|codex ran out of room\b)/i,
};
/** What the CLI prints on lines of their own behind its sentence: the reset, and what a person could buy. */
const GOES_ON =
  /^(?:·\s*)?(?:(?:your )?limits? will reset\b|resets?\b|\/(?:upgrade|extra-usage|usage-credits|rate-limit-options|login|model)\b)/i;
/**
 * In this mode codex writes its progress, and with it the agent's words, on stderr: the cause is at the very end.
 */
const STDERR_LINES = 5;

/**
 * Reads a run whose format was plain text. Nothing marks the final event there, so less can be told: exit 0 and a text
 * is an answer, unless the whole text is one of the vendors' own sentences and nothing else.
 */
export class TextReader implements RunReader {
  private pieces: Buffer[] = [];
  private total = 0;
  private readonly errors = new LineTail();
  private readonly limit: number;
  private readonly cli: VendorCli;

  constructor(cli: VendorCli, options: ReaderOptions = {}) {
    this.cli = cli;
    this.limit = options.lineBytes ?? DEFAULT_LIMITS.lineBytes;
  }

  out(chunk: Uint8Array): StreamSignal[] {
    const before = this.total;
    this.total += chunk.length;
    if (before > this.limit) return [];
    this.pieces.push(Buffer.from(chunk));
    if (this.total <= this.limit) return chunk.length > 0 ? [{ kind: 'progress' }] : [];
    return [{ kind: 'flood', bytes: this.total }];
  }

  err(chunk: Uint8Array): void {
    this.errors.push(chunk);
  }

  progress(): RunProgress {
    return { session: null, model: null, cliVersion: null, steps: 0, tools: {}, toolsRunning: 0, outputTokens: 0 };
  }

  finish(exit: ExitFacts): RunReading {
    const text = stripAnsi(Buffer.concat(this.pieces).toString('utf8')).trim();
    const flooded = this.total > this.limit || exit.flooded === true ? this.total : null;
    const lines = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const start = lastSentence(lines);
    const sentence = exit.exitCode === 0 && start > 0 ? null : vendorSentence(lines.slice(start).join(' '), this.cli);
    const ownEnd = exit.spawnError === null && exit.signal === null && !exit.timedOut && !exit.silent;
    const completed = ownEnd && exit.exitCode === 0 && flooded === null && text !== '';
    const ended = completed ? 'completed' : null;
    const terminal = sentence === null ? ended : 'failed';
    const work = sentence === null ? text : lines.slice(0, start).join('\n');
    const folded = {
      terminal,
      text: terminal === 'completed' ? text : null,
      partial: terminal === 'completed' ? null : partialOf(work),
    } as const;
    const answer = readAnswer(folded, exit);
    const facts: RunFacts = {
      cli: this.cli,
      ...processFacts(exit),
      terminal,
      answer: answer.state,
      unfit: answer.problems,
      channel: sentence === null ? SILENT_CHANNEL : { ...SILENT_CHANNEL, standing: 'final', words: [sentence] },
      // Old generations write the agent's own text there as well: only a run without any counts as a failed start.
      lines: [...(lines.length === 1 ? lines : []), ...this.errors.last().slice(-STDERR_LINES)],
      spoke: lines.length > 1,
      sandboxBroken: false,
      foreignBilling: null,
      flooded,
      unknownFormat: false,
    };
    const began =
      exit.spawnError !== null || (this.total === 0 && exit.exitCode !== null && exit.exitCode !== 0)
        ? 'no'
        : 'unknown';
    return reading(facts, answer, folded, { usage: null, began, session: null, toolCalls: 0 });
  }
}

/** Where the last line begins, with what it goes on from. */
function lastSentence(lines: string[]): number {
  let start = Math.max(0, lines.length - 1);
  while (start > 0 && GOES_ON.test(plainText(lines[start] ?? ''))) start -= 1;
  return start;
}

function vendorSentence(line: string, cli: VendorCli): string | null {
  const plain = plainText(line).replace(/^(?:[^\w'"]*\s)?(?:error:\s*)?/i, '');
  if (line.length > SENTENCE_MAX) return null;
  return textClass(plain, cli, WHOLE_OUTPUT_TEXTS) !== null || CLI_SENTENCE[cli].test(plain) ? plain : null;
}
