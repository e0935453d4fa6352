import type { Envelope } from '#contract';
import type { Context } from '../command.js';
import { laneText, waitingText } from './envelope-text.js';
import { doneSoFar } from './progress-text.js';
import { durationText } from './time-text.js';

export type Progress = { news(envelope: Envelope): void; /** Takes the line away. */ clear(): void };

/**
 * One line on stderr that is written over, for a person who watches a terminal. Never in CI, never into a file: there a
 * line that moves is noise, and only a wait that lasts says what it is for, once for each reason. Whoever reads the log
 * of a night must not find a silent command where a paused lane was; a slot that is taken for a moment is no news.
 */
export function progress({
  env,
  output,
  paintNotes,
  now,
}: Pick<Context, 'env' | 'output' | 'paintNotes' | 'now'>): Progress {
  if (!watches({ env, output })) return { news: waitingNotes(output, now), clear: () => undefined };
  let shown = false;
  const clear = (): void => {
    if (shown) output.raw('\r\u001b[2K');
    shown = false;
  };
  return {
    news(envelope) {
      clear();
      // 0: a terminal that was never told its size.
      const columns = process.stderr.columns || 80;
      output.raw(paintNotes.dim(progressText(envelope, now()).slice(0, columns - 1)));
      shown = true;
    },
    clear,
  };
}

/** A wait is told where nobody watches once it has lasted for so long, ms. */
const LASTS_MS = 30_000;

function waitingNotes(output: Pick<Context['output'], 'note'>, now: () => number): Progress['news'] {
  let since: number | null = null;
  let told = '';
  return ({ dispatchId, waiting }) => {
    if (!waiting) since = null;
    else if (now() - (since ??= now()) >= LASTS_MS && waiting.why !== told) {
      told = waiting.why;
      output.note(`cmo: ${dispatchId} ${waitingText(waiting, now())}`);
    }
  };
}

export function watches({ env, output }: Pick<Context, 'env' | 'output'>): boolean {
  return output.stderrIsTerminal && !env['CI'] && env['TERM'] !== 'dumb';
}

export function progressText(envelope: Envelope, now: number): string {
  const age = durationText(envelope.durationMs);
  const attempt = envelope.attempts.length > 0 ? `, attempt ${envelope.attempts.length + 1}` : '';
  switch (envelope.state) {
    case 'running':
      return [
        `running on ${laneText(envelope)}${attempt}`,
        ...(envelope.progress ? [doneSoFar(envelope.progress)] : []),
        age,
      ].join(' · ');
    case 'retrying':
      return `retrying on ${laneText(envelope)}${attempt} · ${age}`;
    default:
      return `${envelope.waiting ? waitingText(envelope.waiting, now) : `${envelope.state} for ${laneText(envelope)}`}${attempt} · ${age}`;
  }
}
