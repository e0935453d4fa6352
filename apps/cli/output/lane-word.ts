import type { Band, LaneFacts } from '#contract';
import { paintBand, type Paint } from './paint.js';

/**
 * A lane's band as a person reads it. To the policy a lane that is shut is as good as full, whatever shut it; a person who
 * reads `exhausted` beside 27 % is misled, so only a full window is called that, and all else by its own name.
 * @param exhausted percent from which on a window counts as full
 */
export function laneWord(band: Band, facts: LaneFacts | undefined, exhausted: number): string {
  if (band !== 'exhausted' || facts?.hardBlocked !== true || (facts.worstPercent ?? 0) >= exhausted) return band;
  switch (facts.blockedBy) {
    case 'paused':
      return 'paused';
    case 'left':
      return 'given up for this task';
    case 'limit':
      return band;
    case undefined:
      return 'closed';
    default:
      return `closed (${facts.blockedBy})`;
  }
}

export function paintLane(band: Band, facts: LaneFacts | undefined, exhausted: number, paint: Paint): string {
  const word = laneWord(band, facts, exhausted);
  return word === band ? paintBand(band, paint) : word === 'paused' ? paint.yellow(word) : paint.red(word);
}
