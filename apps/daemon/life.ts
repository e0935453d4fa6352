import type { Log } from '#api';
import { within } from '#worker/every';

export type StopOptions = {
  /** Ends the agents first. */
  kill: boolean;
  keepRedis: boolean;
  why: string;
  /** It makes way for another daemon, so a service that runs it is to start the next one. */
  again?: boolean;
};

/** How a step is undone: by a stop, or because a later step of the start failed. */
export type Leaving = StopOptions & { failedStart: boolean };

/**
 * How long a part may take to be undone, ms. With Redis away for good its last words are never answered, and a daemon
 * that was told to stop has to leave all the same: nothing of what it does may not be broken off.
 */
const BOUND_MS = 5_000;

/**
 * What a daemon has started and how each part is undone, last first. A stop that is asked for while it still starts is
 * kept until it has.
 *
 *   starting ──began──▶ running ──stop──▶ leaving ──▶ gone
 *      └────────fail──────────────────────────────────▶ gone
 */
export class Life {
  private readonly steps: { name: string; undo: (leaving: Leaving) => unknown; boundMs: number | null }[] = [];
  private readonly log: Log;
  private running = false;
  private asked: StopOptions | null = null;
  private left: Promise<void> | null = null;
  private settle: () => void = () => undefined;
  /** Settles when all is undone. */
  readonly gone = new Promise<void>((resolve) => (this.settle = resolve));

  constructor(log: Log) {
    this.log = log;
  }

  /** @param boundMs null: it has bounds of its own */
  onLeave(name: string, undo: (leaving: Leaving) => unknown, boundMs: number | null = BOUND_MS): void {
    this.steps.push({ name, undo, boundMs });
  }

  began(): void {
    this.running = true;
    if (this.asked) void this.leave({ ...this.asked, failedStart: false });
  }

  fail(): Promise<void> {
    return this.leave({ kill: false, keepRedis: false, why: 'the start failed', failedStart: true });
  }

  stop(options: StopOptions): Promise<void> {
    this.asked ??= options;
    return this.running ? this.leave({ ...this.asked, failedStart: false }) : this.gone;
  }

  isLeaving(): boolean {
    return this.left !== null;
  }

  /** Why it stops, once it was asked to. */
  askedBy(): StopOptions | null {
    return this.asked;
  }

  private leave(leaving: Leaving): Promise<void> {
    this.left ??= this.undoAll(leaving).finally(() => this.settle());
    return this.left;
  }

  /** One part that can't be undone must not keep the others: a Redis left running is dealt with at the next start. */
  private async undoAll(leaving: Leaving): Promise<void> {
    const { kill, keepRedis, why, failedStart } = leaving;
    if (!failedStart) this.log.info({ kill, keepRedis, why }, 'leaving');
    for (const { name, undo, boundMs } of this.steps.reverse()) {
      try {
        const undone = Promise.resolve(undo(leaving));
        if (boundMs === null) await undone;
        else if (!(await within(boundMs, undone))) this.log.warn({ part: name }, 'a part did not end in time');
      } catch (error) {
        this.log.error({ err: error, part: name }, 'a part did not end in order');
      }
    }
  }
}
