import type { FailureClass } from '#contract';
import type { Channel, RunFacts, Verdict } from './facts.js';
import { firstStep } from './first-step.js';
import { brokeOnTheWay, kindClass, openKindClass, statusClass } from './kinds.js';
import { believable, plainText, statedReset, windowLength } from './reset-time.js';
import { DENIAL_TEXTS, FAILURE_TEXTS, NOISE_LINE, WHOLE_OUTPUT_TEXTS, textClass, type FailureText } from './texts.js';

const WORDS_MAX = 500;
/** What is looked at of a sentence: a raw body may be of any length. */
const SENTENCE_MAX = 4000;
/** Said by the channel, these stand even when a watchdog or a signal ended the run before its last event. */
const OUTRANKS_THE_END = new Set<FailureClass>(['usage_limit', 'rate_limit', 'auth']);
const UNIX_SIGNALS = { first: 129, last: 159 };
const NO_FOLDER = 'the working directory does not exist';

type Found = { class: FailureClass; words: string; boxWide?: true; drift?: true };

/**
 * What a run came to. Order: a start that never was; a terminal event (its content, or its failure channel); what the
 * channel said before the run was cut; who cut it; lines of a failed start; else one bounded retry. Exit codes prove
 * nothing, so they come last and only among failures.
 */
export function classify(facts: RunFacts): Verdict {
  if (facts.spawnError !== null) return verdict(facts, spawnFailure(facts.spawnError, facts.cwdExists));
  // Before its answer: on a short run the bill is sent before we can end it, and the next one must not be.
  if (facts.foreignBilling !== null)
    return verdict(facts, {
      class: 'auth',
      words: `it bills another account than the subscription: key source ${facts.foreignBilling}`,
    });
  if (facts.terminal === 'completed') return completed(facts);
  if (facts.terminal === 'failed') return verdict(facts, channelFailure(facts) ?? failedWithoutCause(facts));
  return verdict(facts, cutOff(facts));
}

function completed(facts: RunFacts): Verdict {
  if (facts.sandboxBroken)
    return verdict(facts, { class: 'environment', words: 'every command failed in the sandbox of the CLI' });
  switch (facts.answer) {
    case 'usable':
      return { class: 'ok', action: 'none' };
    case 'unfit':
      return verdict(facts, {
        class: 'schema',
        words: `the answer does not fit the schema: ${facts.unfit.join('; ')}`,
      });
    case 'empty':
      return verdict(facts, { class: 'transient', words: 'the turn was completed without any text' });
  }
}

function cutOff(facts: RunFacts): Found {
  const said = facts.channel.standing === 'none' ? null : channelFailure(facts);
  if (facts.endedByUs && said) return said;
  if (said && OUTRANKS_THE_END.has(said.class)) return said;
  if (facts.timedOut) return { class: 'timeout', words: 'it ran out of its time' };
  if (facts.silent) return { class: 'silence', words: 'the CLI gave no sign of progress for too long' };
  if (facts.flooded !== null)
    return {
      class: 'deterministic',
      words: `more output than is read (${String(facts.flooded)} bytes) and no final event`,
    };
  const line = lineFailure(facts);
  if (facts.signal !== null) return line?.boxWide ? line : { class: 'killed', words: `ended by ${facts.signal}` };
  if (facts.exitCode !== null && facts.exitCode >= UNIX_SIGNALS.first && facts.exitCode <= UNIX_SIGNALS.last) {
    return line?.boxWide
      ? line
      : {
          class: 'killed',
          words: `ended by signal ${String(facts.exitCode - 128)} (exit code ${String(facts.exitCode)})`,
        };
  }
  if (said) return said;
  if (!facts.cwdExists && !facts.spoke) return { class: 'deterministic', words: NO_FOLDER };
  if (line) return line;
  return unexplained(facts, 'it ended without a final event');
}

function spawnFailure(error: string, cwdExists: boolean): Found {
  const code = /\bE[A-Z0-9]{2,}\b/.exec(error)?.[0] ?? error;
  const words = `the CLI could not be started: ${code}`;
  // Node reports a missing working directory as ENOENT of the program.
  if (!cwdExists) return { class: 'deterministic', words: NO_FOLDER };
  if (code === 'ENOSPC' || code === 'EDQUOT') return { class: 'environment', boxWide: true, words };
  if (code === 'EAGAIN' || code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM')
    return { class: 'transient', words };
  if (code === 'E2BIG' || code === 'EINVAL') return { class: 'deterministic', words };
  return { class: 'environment', words };
}

/**
 * The most telling part first: a sentence that names a limit or the login, the machine word, any known sentence, the
 * status.
 */
function channelFailure({ cli, channel }: Pick<RunFacts, 'cli' | 'channel'>): Found | null {
  const spoken = channel.words
    .map((sentence) => sentence.slice(0, SENTENCE_MAX).trim())
    .filter((sentence) => sentence !== '');
  const sentences = spoken.map(plainText);
  const words = spoken[0] ?? channel.kinds[0] ?? (channel.status === null ? '' : `status ${String(channel.status)}`);
  const denied = firstMatch(sentences, cli, DENIAL_TEXTS);
  if (denied) return { class: denied.class, words };
  const plain = firstMatch(sentences, cli, WHOLE_OUTPUT_TEXTS);
  const byText = firstMatch(sentences, cli, FAILURE_TEXTS);
  const found =
    plain?.class ??
    kindClass(channel.kinds, cli) ??
    byText?.class ??
    statusClass(channel.status) ??
    openKindClass(channel.kinds) ??
    (brokeOnTheWay(channel.kinds) ? 'transient' : null);
  if (found === null) return rejectedWindow(channel) ? { class: 'usage_limit', words } : null;
  if (found === 'rate_limit' && rejectedWindow(channel)) return { class: 'usage_limit', words };
  return { class: found, words, ...(byText?.class === found && byText.boxWide ? { boxWide: true } : {}) };
}

function firstMatch(sentences: string[], cli: RunFacts['cli'], texts: readonly FailureText[]): FailureText | null {
  for (const sentence of sentences) {
    const found = textClass(sentence, cli, texts);
    if (found) return found;
  }
  return null;
}

/** A bare "rejected" is also what a short throttle gives: only a named window or reset makes it a spent one. */
function rejectedWindow(channel: Channel): boolean {
  return channel.rejected !== null && (channel.rejected.type !== null || channel.rejected.resetsAt !== null);
}

/** The last line that is understood: causes stand at the end, notices before it. */
function lineFailure(facts: RunFacts): Found | null {
  for (const line of [...facts.lines].reverse()) {
    const plain = plainText(line).trim();
    if (plain === '' || NOISE_LINE.test(plain)) continue;
    const bare = plain.replace(/^(?:[^\w'"]*\s)?(?:(?:fatal )?error|fatal|stream error)?[:\s]+(?=\S)/i, '');
    const found = textClass(bare, facts.cli, FAILURE_TEXTS) ?? textClass(plain, facts.cli, FAILURE_TEXTS);
    if (found && (!facts.spoke || found.anytime))
      return { class: found.class, words: line.trim(), ...(found.boxWide ? { boxWide: true } : {}) };
  }
  return null;
}

function failedWithoutCause(facts: RunFacts): Found {
  const [said] = facts.channel.words.filter((sentence) => sentence.trim() !== '');
  return said === undefined
    ? unexplained(facts, 'the vendor reported a failure without a cause')
    : { class: 'transient', words: said.trim() };
}

function unexplained(facts: RunFacts, why: string): Found {
  const line = [...facts.lines]
    .reverse()
    .find((text) => text.trim() !== '' && !NOISE_LINE.test(plainText(text).trim()));
  const words = `${why} (exit code ${facts.exitCode === null ? 'none' : String(facts.exitCode)})${line === undefined ? '' : `: ${line.trim()}`}`;
  if (facts.unknownFormat)
    return {
      class: 'environment',
      drift: true,
      words: 'the CLI wrote events of an unknown form: is it of another version than these readers know?',
    };
  if (facts.exitCode === 126 || facts.exitCode === 127) return { class: 'environment', words };
  // Both CLIs' parsers end a call they don't understand with 2.
  if (facts.exitCode === 2 && !facts.spoke) return { class: 'deterministic', words };
  return { class: 'transient', words };
}

function verdict(facts: RunFacts, found: Found): Verdict {
  const words = found.words.slice(0, WORDS_MAX);
  const limit = found.class === 'usage_limit' || found.class === 'rate_limit';
  return {
    class: found.class,
    action: firstStep(found.class, found.boxWide === true),
    ...(limit ? { resetsAt: resetOf(facts, found) } : {}),
    ...(found.boxWide ? { boxWide: true } : {}),
    ...(found.drift ? { drift: true } : {}),
    words,
  };
}

/** The stream's own number, else the one in an error body, else the sentence. */
function resetOf(facts: RunFacts, found: Found): number | null {
  const { channel, now, hostTimeZone } = facts;
  const context = { now, hostTimeZone, bareClockIsToday: facts.cli === 'codex' };
  if (
    found.class === 'usage_limit' &&
    channel.rejected?.resetsAt != null &&
    believable(channel.rejected.resetsAt, now, windowLength(channel.rejected.type ?? ''))
  ) {
    return channel.rejected.resetsAt;
  }
  if (channel.resetsAt !== null && believable(channel.resetsAt, now, windowLength(channel.words.join(' '))))
    return channel.resetsAt;
  for (const sentence of [...channel.words, found.words]) {
    const stated = statedReset(sentence, context);
    if (stated !== null) return stated;
  }
  return null;
}
