import { isEnded, type Envelope } from '#contract';
import type { Context } from '../command.js';
import { laneText, waitingText } from './envelope-text.js';
import { doneSoFar } from './progress-text.js';
import { clip } from './table.js';
import { durationText } from './time-text.js';

export type Progress = {
  news(envelope: Envelope): void;
  /** One has ended: what `tell` prints takes the place of the line, until there is news of another. */
  ended(envelope: Envelope, tell: () => void): void;
  /** Takes the line away. */
  clear(): void;
};

type Said = { what: string; age: string };

/**
 * One line on stderr that is overwritten in place, for a person who watches a terminal. Never in CI or into a file,
 * where it would be noise: there only a wait that lasts is reported, once for each reason. The log of a night must not
 * be silent about a paused lane; a slot that is taken for a moment is no news.
 * @param ids all that is waited for; of several the line tells how many have ended, and what the first waits for
 */
export function progress(
  { env, output, paintNotes, now }: Pick<Context, 'env' | 'output' | 'paintNotes' | 'now'>,
  ids: () => readonly string[],
): Progress {
  const seen = new Map<string, Envelope>();
  if (!watches({ env, output })) {
    const note = waitingNotes(output, now);
    return {
      news(envelope) {
        seen.set(envelope.dispatchId, envelope);
        if (ids().length === 1)
          note(envelope.waiting, () => `${envelope.dispatchId} ${progressText(envelope, now()).what}`);
        else {
          const several = severalOf(ids(), seen);
          note(several.running > 0 ? undefined : several.waiting, () => severalText(several, now()).what);
        }
      },
      ended(envelope, tell) {
        seen.set(envelope.dispatchId, envelope);
        tell();
      },
      clear: () => undefined,
    };
  }
  let shown = '';
  const clear = (): void => {
    if (shown !== '') output.raw('\r\u001b[2K');
    shown = '';
  };
  return {
    news(envelope) {
      seen.set(envelope.dispatchId, envelope);
      const { what, age } =
        ids().length === 1 ? progressText(envelope, now()) : severalText(severalOf(ids(), seen), now());
      // 0: a terminal that was never told its size. What is cut is the reason, never the figure behind it.
      const room = (process.stderr.columns || 80) - 1 - ` · ${age}`.length;
      const line = `${clip(what, room)} · ${age}`;
      // Of 250 that are waited for most news changes nothing that is shown.
      if (line === shown) return;
      clear();
      output.raw(paintNotes.dim(line));
      shown = line;
    },
    ended(envelope, tell) {
      seen.set(envelope.dispatchId, envelope);
      clear();
      tell();
    },
    clear,
  };
}

/** Of a batch's name, columns: a long one must leave room for how far the batch is. */
const NAME_COLUMNS = 24;

/** Without a terminal, a wait is reported once it has lasted this long, ms. */
const LASTS_MS = 30_000;

function waitingNotes(output: Pick<Context['output'], 'note'>, now: () => number) {
  let since: number | null = null;
  let told = '';
  return (waiting: Envelope['waiting'], text: () => string): void => {
    if (!waiting) since = null;
    else if (now() - (since ??= now()) >= LASTS_MS && waiting.why !== told) {
      told = waiting.why;
      output.note(`cmo: ${text()}`);
    }
  };
}

export function watches({ env, output }: Pick<Context, 'env' | 'output'>): boolean {
  return output.stderrIsTerminal && !env['CI'] && env['TERM'] !== 'dumb';
}

function progressText(envelope: Envelope, now: number): Said {
  const age = durationText(envelope.durationMs);
  const attempt = envelope.attempts.length > 0 ? `, attempt ${envelope.attempts.length + 1}` : '';
  switch (envelope.state) {
    case 'running':
      return {
        what: [
          `running on ${laneText(envelope)}${attempt}`,
          ...(envelope.progress ? [doneSoFar(envelope.progress)] : []),
        ].join(' · '),
        age,
      };
    case 'retrying':
      return { what: `retrying on ${laneText(envelope)}${attempt}${waitFor(envelope, now)}`, age };
    default:
      return {
        what: `${envelope.waiting ? waitingText(envelope.waiting, now) : `${envelope.state} for ${laneText(envelope)}`}${attempt}`,
        age,
      };
  }
}

function waitFor({ waiting }: Envelope, now: number): string {
  return waiting ? ` · ${waitingText(waiting, now)}` : '';
}

type Several = {
  batch: string | null;
  ended: number;
  of: number;
  running: number;
  /** What the first of those that wait waits for. */
  waiting: Envelope['waiting'];
  /** Since the first of them was submitted, ms. */
  ageMs: number;
};

/** Of a long list only its head is asked about at a time; what starts, starts in this order too. */
function severalOf(ids: readonly string[], seen: ReadonlyMap<string, Envelope>): Several {
  const envelopes = ids.flatMap((id) => seen.get(id) ?? []);
  const batches = new Set(envelopes.map(({ batch }) => batch));
  const [batch = null] = batches;
  return {
    batch: batches.size === 1 ? batch : null,
    ended: envelopes.filter(({ state }) => isEnded(state)).length,
    of: ids.length,
    running: envelopes.filter(({ state }) => state === 'running').length,
    waiting: envelopes.find(({ state, waiting }) => !isEnded(state) && waiting)?.waiting,
    ageMs: Math.max(0, ...envelopes.filter(({ state }) => !isEnded(state)).map(({ durationMs }) => durationMs)),
  };
}

function severalText({ batch, ended, of, running, waiting, ageMs }: Several, now: number): Said {
  const told = waiting && (running === 0 || waiting.for !== 'slot') ? [waitingText(waiting, now)] : [];
  const count = `${ended} of ${of} ended${running > 0 ? `, ${running} running` : ''}`;
  return {
    what: [`${batch === null ? '' : `batch ${clip(batch, NAME_COLUMNS)}: `}${count}`, ...told].join(' · '),
    age: durationText(ageMs),
  };
}
