import { thrownMessage } from '#contract';

/**
 * What goes wrong repeats: each round of upkeep, each try of a queue worker and each tender meets the same Redis. The
 * log says it once; what comes again is counted, and one line tells the count.
 *
 *   new ──said──▶ known ──the same again──▶ known, counted ──tellAgainMs after the last line──▶ said with its count, known
 *                   └──tellAgainMs without it──▶ forgotten
 */
export interface SayOnce {
  /**
   * @param fields of the log line. The same words with the same error are the same, whomever they are about; without
   * an error all fields count.
   * @param say writes the line; called again, with `again` and `besides` beside its fields, for what came meanwhile
   */
  (level: number, words: string, fields: object, say: (fields: object) => void): void;
}

/** At most one line in this time for one fault, ms. */
const TELL_AGAIN_MS = 60_000;
/** A line names at most this many others that the same fault met. */
const MOST_NAMED = 10;
/** Kinds of faults known at once. Beyond these each is said: that is no repetition any more. */
const MOST_KNOWN = 500;

type Known = { again: number; besides: Map<string, object>; say: (fields: object) => void; fields: object };

export function sayOnce(tellAgainMs = TELL_AGAIN_MS): { hear: SayOnce; flush(): void } {
  const known = new Map<string, Known>();

  const tell = (one: Known): void => {
    const { again, besides } = one;
    if (again === 0) return;
    Object.assign(one, { again: 0, besides: new Map() });
    one.say({ ...one.fields, again, ...(besides.size > 0 && { besides: [...besides.values()] }) });
  };
  const later = (key: string, one: Known): void => {
    setTimeout(() => {
      if (one.again === 0) return void known.delete(key);
      tell(one);
      later(key, one);
    }, tellAgainMs).unref();
  };

  return {
    hear(level, words, fields, say) {
      const { error, about } = parted(fields);
      const key = JSON.stringify([level, words, error ?? about]);
      const there = known.get(key);
      if (there) {
        there.again += 1;
        const name = JSON.stringify(about);
        const isNew = name !== JSON.stringify(parted(there.fields).about);
        if (isNew && there.besides.size < MOST_NAMED) there.besides.set(name, about);
        return;
      }
      say(fields);
      if (known.size >= MOST_KNOWN) return;
      const one: Known = { again: 0, besides: new Map(), say, fields };
      known.set(key, one);
      later(key, one);
    },
    /** Tells what was counted and not told: this process leaves. */
    flush() {
      for (const one of known.values()) tell(one);
    },
  };
}

/** What went wrong, and whom it met. */
function parted(fields: object): { error: string | null; about: object } {
  const { err, error, ...about } = fields as { err?: unknown; error?: unknown };
  const thrown = err ?? error;
  return { error: thrown === undefined ? null : thrownMessage(thrown), about };
}
