import type { StreamSignal } from '#vendors';

/**
 * The watchdogs of one run (pure): what the stream's signals and the clock say about ending it.
 *
 * watching ──final event──▶ leaving (a grace to exit by itself) ──▶ end: hung after its answer
 *    ├──refused / foreign billing──▶ end
 *    ├──silence (nothing but pings and retries)──▶ end
 *    ├──cancel──▶ end
 *    └──long past the deadline──▶ end, the supervisor too
 * The wall clock is the supervisor's, so that it holds without a
 * worker; ours is for a supervisor that is stopped or stuck.
 */
export type EndReason = 'final' | 'refused' | 'foreign-billing' | 'silence' | 'overflow' | 'cancel' | 'deadline';

/** How long a CLI may take to exit after its final event, ms. Both leave within one; the rest are hung. */
export const FINAL_GRACE_MS = 10_000;

/** The longest a tool may run without a word: claude's own bound on a shell call is 10 min, ms. */
const TOOL_SILENCE_MS = 11 * 60_000;
/** Beyond deadline and grace: the supervisor ends a run by itself well before that, ms. */
const DEADLINE_SLACK_MS = 30_000;

export class Watch {
  #lastProgress: number;
  #finalAt: number | null = null;
  #reason: EndReason | null = null;
  session: string | null = null;
  readonly #silenceMs: number;
  readonly #deadlineAt: number;
  readonly #mayBillElsewhere: boolean;

  /** @param mayBillElsewhere the lane's own configuration points its CLI at another endpoint, and says so everywhere */
  constructor(
    startedAt: number,
    now: number,
    limits: { silenceMs: number; deadlineMs: number; graceMs: number },
    mayBillElsewhere: boolean,
  ) {
    // An adopted run's last progress is not known; half the bound is left to it.
    this.#lastProgress = Math.max(startedAt, now - limits.silenceMs / 2);
    this.#silenceMs = limits.silenceMs;
    this.#deadlineAt = startedAt + limits.deadlineMs + limits.graceMs + DEADLINE_SLACK_MS;
    this.#mayBillElsewhere = mayBillElsewhere;
  }

  take(signals: readonly StreamSignal[], now: number): void {
    for (const signal of signals) {
      switch (signal.kind) {
        case 'session':
          this.session = signal.id;
          break;
        case 'progress':
          this.#lastProgress = now;
          // Another turn began: what looked final was not.
          this.#finalAt = null;
          break;
        case 'final':
          this.#lastProgress = now;
          this.#finalAt ??= now;
          break;
        case 'refused':
          this.#reason ??= 'refused';
          break;
        case 'foreign-billing':
          if (!this.#mayBillElsewhere) this.#reason ??= 'foreign-billing';
          break;
        case 'flood':
          this.#reason ??= 'overflow';
          break;
        case 'rate-limit-event':
          break;
      }
    }
  }

  /** When the agent last showed life, ms. */
  get movedAt(): number {
    return this.#lastProgress;
  }

  end(reason: EndReason): void {
    this.#reason ??= reason;
  }

  /** Why it has to be ended now; null: let it run. */
  verdict(now: number, toolsRunning: number): EndReason | null {
    if (this.#reason !== null) return this.#reason;
    if (now > this.#deadlineAt) return 'deadline';
    if (this.#finalAt !== null) return now - this.#finalAt > FINAL_GRACE_MS ? 'final' : null;
    // A shell call may be silent for ten minutes by the CLIs' own bounds, and the agent is well.
    const bound = toolsRunning > 0 ? Math.max(this.#silenceMs, TOOL_SILENCE_MS) : this.#silenceMs;
    return now - this.#lastProgress > bound ? 'silence' : null;
  }
}
