import { thrownMessage } from '#contract';
import type { RunProgress } from '#vendors';
import type { Resources } from './resources.js';
import type { RunRef } from './roster.js';

/** A person who watches doesn't read faster, and fifty agents write fifty times as often, ms. */
const TELL_MS = 3_000;

export interface ProgressTeller {
  /** @param movedAt when the agent last showed life, ms by this box's clock */
  tell(progress: RunProgress, movedAt: number): void;
}

/**
 * Keeps the record's picture of a running attempt fresh: immediately when the vendor's session is known, then at most
 * every three seconds and only when something changed. Never awaited: a Redis that is away must not block a watchdog.
 */
export function progressTeller(
  { transitions, node, clock, log }: Pick<Resources, 'transitions' | 'node' | 'clock' | 'log'>,
  run: Pick<RunRef, 'id' | 'attempt'>,
  beside: () => string[],
): ProgressTeller {
  let told = { text: '', movedAt: 0, session: null as string | null, at: clock() };
  let underWay = false;
  return {
    tell({ session, steps, tools, toolsRunning, outputTokens }, movedAt) {
      const now = clock();
      const others = beside();
      const progress = {
        attempt: run.attempt,
        session,
        steps,
        tools,
        toolsRunning,
        outputTokens,
        ...(others.length > 0 && { beside: others }),
      };
      const text = JSON.stringify(progress);
      const news = text !== told.text || movedAt !== told.movedAt;
      const due = now - told.at >= TELL_MS || (session !== null && told.session === null);
      if (underWay || !news || !due) return;
      told = { text, movedAt, session, at: now };
      underWay = true;
      void transitions
        .progress(run.id, node, now - movedAt, progress)
        .catch((error: unknown) => {
          log.warn({ dispatch: run.id, error: thrownMessage(error) }, 'progress was not noted');
          return false;
        })
        .then((noted) => {
          // It counts as news again at the next turn.
          if (!noted) told = { ...told, text: '' };
        })
        .finally(() => {
          underWay = false;
        });
    },
  };
}
