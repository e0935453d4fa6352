import { isEnded, type DispatchRecord } from '#contract';
import type { Changes, Records } from '#store';

/**
 * Long polls. A poll subscribes first and reads then, so that an end between the two is seen. It reads again on each
 * message of its dispatch, when the subscription was made anew (messages sent meanwhile are lost), and every
 * LOOK_AGAIN_MS regardless. It settles when the dispatch has ended, when its time is over, when its client left or when
 * the daemon hands over, with the record as last read. It waits for a Redis that goes away meanwhile.
 */
export type EndWatch = {
  /** @param waitMs at most this long; @param gone aborted when the client leaves. Null: no such dispatch. */
  wait(id: string, waitMs: number, gone: AbortSignal): Promise<DispatchRecord | null>;
  /** Polls that are open now. */
  open(): number;
  /** Every open poll answers now, and later ones at once. */
  close(): void;
};

const LOOK_AGAIN_MS = 5_000;

export function watchEnds(records: Pick<Records, 'read'>, changes: Pick<Changes, 'on' | 'onAgain'>): EndWatch {
  const polls = new Map<string, Set<Poll>>();
  let open = 0;
  let closed = false;
  const all = (): Poll[] => [...polls.values()].flatMap((set) => [...set]);
  const stopListening = changes.on((id) => {
    for (const poll of polls.get(id) ?? []) poll.look();
  });
  const stopAgain = changes.onAgain(() => {
    for (const poll of all()) poll.look();
  });

  async function wait(id: string, waitMs: number, gone: AbortSignal): Promise<DispatchRecord | null> {
    if (waitMs <= 0 || closed) return records.read(id);
    const poll = new Poll();
    const set = polls.get(id) ?? new Set<Poll>();
    polls.set(id, set.add(poll));
    const end = (): void => poll.end();
    const timer = setTimeout(end, waitMs);
    gone.addEventListener('abort', end);
    if (gone.aborted) poll.end();
    open++;
    try {
      for (let last: DispatchRecord | null = null; ; await poll.next(LOOK_AGAIN_MS)) {
        try {
          const record = await records.read(id);
          if (record === null || isEnded(record.state) || poll.over) return record;
          last = record;
        } catch (error) {
          // Also the first look may fall into a moment without Redis; only a poll whose time is over has to say so.
          if (poll.over && last === null) throw error;
          if (poll.over) return last;
        }
      }
    } finally {
      open--;
      clearTimeout(timer);
      gone.removeEventListener('abort', end);
      set.delete(poll);
      if (set.size === 0 && polls.get(id) === set) polls.delete(id);
    }
  }

  return {
    wait,
    open: () => open,
    close() {
      closed = true;
      stopListening();
      stopAgain();
      for (const poll of all()) poll.end();
    },
  };
}

/** The signals of one poll. A look that comes while its poll reads is kept, not lost. */
class Poll {
  over = false;
  private asked = 0;
  private seen = 0;
  private wake: (() => void) | null = null;

  look(): void {
    this.asked++;
    this.wake?.();
  }

  end(): void {
    this.over = true;
    this.look();
  }

  /** Until the next look, or for `ms`. */
  async next(ms: number): Promise<void> {
    if (this.asked === this.seen) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = null;
    }
    this.seen = this.asked;
  }
}
