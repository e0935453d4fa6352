import { setMaxListeners } from 'node:events';
import { parseAttemptId, type CancelData, type Envelope, type ErrorBody } from '#contract';
import type { Context } from '../command.js';
import { progress, watches } from '../output/progress.js';
import { listenForSignals, type Leaving } from '../signals.js';
import type { DaemonClient } from './daemon.js';
import { follow, type Followed } from './follow.js';
import { pooled, WIDTH } from './pooled.js';

/**
 * Attends to dispatches on behalf of a person or a script:
 *
 *   submitting ──refused──▶ refused
 *       │
 *   waiting ──all ended──▶ ended
 *      │──time over──▶ time-over        (they go on)
 *      │──daemon can't be brought back──▶ lost       (they go on)
 *      │──TERM, HUP──▶ left             (they go on)
 *      └──Ctrl-C──▶ cancelling ──all ended, or CANCEL_MS──▶ interrupted
 *                       └──Ctrl-C──▶ interrupted, at once
 */
export type Attended =
  | { how: 'refused'; error: ErrorBody }
  | { how: 'ended'; envelopes: Envelope[] }
  | { how: 'time-over'; envelopes: Envelope[] }
  | { how: 'lost'; error: ErrorBody }
  | { how: 'left'; signal: Leaving }
  /** Those that were seen to end. */
  | { how: 'interrupted'; envelopes: Envelope[] };

export type Submitted = { ok: true; ids: readonly string[] } | { ok: false; error: ErrorBody };

export type AttendOptions = {
  ids: readonly string[];
  /**
   * Sends them first: signals count from here on, since the client has made the ids already. With a `--once` key the
   * answer may name other dispatches, which were there before: those are waited for then.
   */
  submit?(): Promise<Submitted>;
  /** Milliseconds; null: as long as it takes. */
  forMs: number | null;
  onEnd?(envelope: Envelope): void;
};

const CANCEL_MS = 15_000;
const WATCHED_POLL_MS = 1_500;
const POLL_MS = 60_000;

export async function attend(
  client: DaemonClient,
  { ids: asked, submit, forMs, onEnd }: AttendOptions,
  context: Context,
): Promise<Attended> {
  const { output, env } = context;
  const mark = env['CMO_ATTEMPT'];
  const attempt = mark !== undefined && parseAttemptId(mark) ? mark : undefined;
  const leaving = new AbortController();
  const { signal } = leaving;
  // One for each question under way: from the eleventh on, Node would warn a person of a leak.
  setMaxListeners(WIDTH + 1, signal);
  let why: Leaving | 'SIGINT' | null = null;
  let interrupted = false;
  const leave = (reason: Leaving | 'SIGINT'): void => {
    why ??= reason;
    leaving.abort();
  };

  let ids = asked;
  const line = progress(context, () => ids);
  const submitted: Promise<Submitted> = submit?.() ?? Promise.resolve({ ok: true, ids });
  const stop = listenForSignals({
    onInterrupt() {
      interrupted = true;
      line.clear();
      output.note(
        `cmo: cancelling ${ids.length > 5 ? `${ids.length} dispatches` : ids.join(' ')} (Ctrl-C again to leave at once)`,
      );
      setTimeout(() => leave('SIGINT'), CANCEL_MS).unref();
      void submitted.then(async (answer) => {
        if (answer.ok) await cancelAll(client, answer.ids);
      });
    },
    onSecondInterrupt: () => leave('SIGINT'),
    onLeave: leave,
  });

  try {
    const left = new Promise<'left'>((resolve) =>
      signal.addEventListener('abort', () => resolve('left'), { once: true }),
    );
    const first = await Promise.race([submitted, left]);
    if (first !== 'left') {
      if (!first.ok) return { how: 'refused', error: first.error };
      ids = first.ids;
    }
    // A night's work is easily taken for something that Ctrl-C only stops looking at. Nothing to say where all has ended.
    let warned = ids.length === 1 || !watches(context);
    const warn = (): void => {
      if (!warned)
        output.note(
          context.paintNotes.dim(`cmo: Ctrl-C cancels all ${ids.length}; when this terminal is closed they go on`),
        );
      warned = true;
    };
    const pollMs = watches(context) ? WATCHED_POLL_MS : POLL_MS;
    const until = forMs === null ? null : performance.now() + forMs;
    const followed = await pooled(ids, async (id) => {
      const one = await follow(client, id, {
        forMs: until === null ? null : until - performance.now(),
        pollMs,
        signal,
        ...(attempt && { attempt }),
        onNews(envelope) {
          warn();
          line.news(envelope);
        },
      });
      if (one.kind === 'ended') line.ended(one.envelope, () => onEnd?.(one.envelope));
      return one;
    });
    return settle(followed, interrupted, why);
  } finally {
    stop();
    line.clear();
  }
}

function settle(followed: readonly Followed[], interrupted: boolean, why: Leaving | 'SIGINT' | null): Attended {
  const ended = followed.flatMap((one) => (one.kind === 'ended' ? [one.envelope] : []));
  if (interrupted) return { how: 'interrupted', envelopes: ended };
  if (why !== null && why !== 'SIGINT') return { how: 'left', signal: why };
  const lost = followed.find((one) => one.kind === 'lost');
  if (lost) return { how: 'lost', error: lost.error };
  const seen = followed.flatMap((one) => ('envelope' in one ? [one.envelope] : []));
  return { how: ended.length === followed.length ? 'ended' : 'time-over', envelopes: seen };
}

async function cancelAll(client: DaemonClient, ids: readonly string[]): Promise<void> {
  await pooled(ids, (id) =>
    client.call<CancelData>({ method: 'POST', path: `/v1/dispatches/${id}/cancel`, body: {}, daemon: 'restart' }),
  );
}
