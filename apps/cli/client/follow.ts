import { isEnded, type Envelope, type ErrorBody } from '#contract';
import type { DaemonClient } from './daemon.js';

export type Followed =
  | { kind: 'ended'; envelope: Envelope }
  /** The time was over first; the dispatch goes on. */
  | { kind: 'time-over'; envelope: Envelope }
  | { kind: 'lost'; error: ErrorBody }
  | { kind: 'left' };

export type FollowOptions = {
  /** Milliseconds from now; null: as long as it takes. */
  forMs: number | null;
  /** How long one question may wait for its answer; a person who watches wants news, a pipe does not. */
  pollMs: number;
  onNews?(envelope: Envelope): void;
  signal?: AbortSignal;
  /** The attempt inside which somebody waits: its slot is another's meanwhile. */
  attempt?: string;
};

const EARLY_MS = 100;

/**
 * Waits for the end of a dispatch by long polls. A daemon that dies in the middle is started again and asked again; the
 * dispatch and its agent do not depend on either of us.
 */
export async function follow(
  client: DaemonClient,
  id: string,
  { forMs, pollMs, onNews, signal, attempt }: FollowOptions,
): Promise<Followed> {
  const until = forMs === null ? Infinity : performance.now() + forMs;
  // Asking is an act of a person, and starts what is down; only while one waits does `cmo down` outrank it.
  for (let daemon: 'start' | 'restart' = 'start'; ; daemon = 'restart') {
    const asked = performance.now();
    const wait = Math.max(0, Math.min(pollMs, Math.ceil(until - performance.now())));
    const outcome = await client.call<Envelope>({
      method: 'GET',
      path: `/v1/dispatches/${id}?wait=${wait}`,
      timeoutMs: wait + 30_000,
      daemon,
      ...(signal && { signal }),
      ...(attempt !== undefined && { attempt }),
    });
    if (signal?.aborted) return { kind: 'left' };
    if (!outcome.ok) return { kind: 'lost', error: outcome.error };
    const envelope = outcome.data;
    if (isEnded(envelope.state)) return { kind: 'ended', envelope };
    onNews?.(envelope);
    if (performance.now() >= until) return { kind: 'time-over', envelope };
    // A daemon that hands over answers its polls early.
    if (performance.now() - asked < EARLY_MS) await new Promise((resolve) => setTimeout(resolve, EARLY_MS));
  }
}
