import type { HealthData } from '#contract';
import type { Pulse } from '#store';
import type { Repeated } from './every.js';

/** A piece of upkeep that repeats every few seconds and has not finished for this long is stuck, ms. */
const STUCK_MS = 60_000;

/**
 * By what was done, not by what is connected. Nothing but the Redis is blamed while that is away, or has only just come
 * back.
 */
export function healthOf(
  pulse: Pick<Pulse, 'awayMs' | 'answersMs'>,
  lanes: HealthData['lanes'],
  rounds: Readonly<Record<string, Pick<Repeated, 'sinceRound'>>>,
): HealthData {
  const away = pulse.awayMs();
  if (away !== null) return { problems: [`Redis has not answered for ${seconds(away)}`], lanes };
  const stuck = Object.entries(rounds).filter(
    ([, round]) => Math.min(round.sinceRound(), pulse.answersMs()) >= STUCK_MS,
  );
  return {
    problems: [
      ...lanes
        .filter(({ deaf }) => deaf)
        .map(({ queue, silentMs }) => `the worker of ${queue} has asked for no ticket for ${seconds(silentMs)}`),
      ...stuck.map(([name, round]) => `${name} has not come round for ${seconds(round.sinceRound())}`),
    ],
    lanes,
  };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
