import pc from 'picocolors';
import type { Band, State } from '#contract';

export type Paint = ReturnType<typeof pc.createColors>;

/**
 * Colours for one stream: never into a pipe, whatever the other stream is; NO_COLOR and FORCE_COLOR are picocolors'.
 */
export function paintFor(isTerminal: boolean): Paint {
  return pc.createColors(isTerminal && pc.isColorSupported);
}

/** The word is printed too: colour alone tells a colour-blind reader, and a log, nothing. */
export function paintState(state: State, paint: Paint): string {
  switch (state) {
    case 'succeeded':
      return paint.green(state);
    case 'failed':
    case 'timed_out':
      return paint.red(state);
    case 'running':
      return paint.cyan(state);
    case 'retrying':
    case 'deferred':
    case 'expired':
      return paint.yellow(state);
    case 'queued':
    case 'cancelled':
      return paint.dim(state);
  }
}

export function paintBand(band: Band, paint: Paint): string {
  return bandPaint(band, paint)(band);
}

/** The colour of a band, for its word and for its bar. */
export function bandPaint(band: Band, paint: Paint): (text: string) => string {
  switch (band) {
    case 'ok':
      return paint.green;
    case 'tight':
      return paint.yellow;
    case 'critical':
    case 'exhausted':
    case 'missing':
      return paint.red;
    case 'unknown':
      return paint.dim;
  }
}
