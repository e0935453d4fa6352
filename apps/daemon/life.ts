import type { Log } from '#api';

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
 * What a daemon has started and how each part is undone, last first. A stop that is asked for while it still starts is
 * kept until it has.
 *
 *   starting ──began──▶ running ──stop──▶ leaving ──▶ gone
 *      └────────fail──────────────────────────────────▶ gone
 */
export class Life {
  private readonly steps: { name: string; undo: (leaving: Leaving) => unknown }[] = [];
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

  onLeave(name: string, undo: (leaving: Leaving) => unknown): void {
    this.steps.push({ name, undo });
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

  /** One part that can't be undone must not keep the others: a Redis left running is mended at the next start. */
  private async undoAll(leaving: Leaving): Promise<void> {
    const { kill, keepRedis, why, failedStart } = leaving;
    if (!failedStart) this.log.info({ kill, keepRedis, why }, 'leaving');
    for (const { name, undo } of this.steps.reverse()) {
      try {
        await undo(leaving);
      } catch (error) {
        this.log.error({ err: error, part: name }, 'a part did not end in order');
      }
    }
  }
}
