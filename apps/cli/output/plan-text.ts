import type { Config } from '#contract';
import { deferral } from '#policy/deferral';
import type { Picture } from '../plan/picture.js';
import type { Plan } from '../plan/plan-one.js';
import { independenceText } from './envelope-text.js';
import { paintLane } from './lane-word.js';
import type { Paint } from './paint.js';
import { shortNumber } from './percent-text.js';
import { durationText, momentText } from './time-text.js';

export function planText(
  { decision, room }: Plan,
  picture: Picture,
  config: Config,
  paint: Paint,
  now: number,
): string[] {
  const lines: string[] = [];
  if (decision.ok) {
    const { lane, model, effort, tier, weight, fallback } = decision;
    lines.push(
      `${paint.bold(`${lane} ${model}`)}${effort === null ? '' : ` effort=${effort}`} (tier ${tier}, weight ${weight})`,
    );
    if (decision.independence !== null)
      lines.push(
        `review: ${decision.degradedReview ? paint.yellow(independenceText({ independence: decision.independence, degradedReview: true }) ?? '') : decision.independence}`,
      );
    if (room !== null && !room.free)
      lines.push(
        `${paint.yellow(`would wait (waiting-${room.for})`)}: ${room.why}${room.until === null ? '' : `, until ${momentText(room.until, now)}`}`,
      );
    const other = config.lanes.find(({ id }) => id === fallback);
    if (other) lines.push(`else: ${other.id} ${other.models[tier].model}`);
  } else {
    lines.push(
      `${paint.red('DEFER')} (tier ${decision.tier}, weight ${decision.weight}): ${decision.reasonCode}${decision.detail ? `, ${decision.detail}` : ''}`,
    );
    lines.push(
      decision.resumeAfter === null
        ? 'when a lane opens is not known'
        : `resume after ${momentText(decision.resumeAfter, now)}`,
      `${paint.dim('fix:')} ${deferral(decision).fix}`,
    );
  }
  lines.push(`why: ${decision.reason}`);
  if (decision.notes.length > 0) lines.push('notes:', ...decision.notes.map((note) => `  - ${note}`));
  for (const { lane, state, percent, resetsAt, score } of decision.candidates) {
    lines.push(
      `  ${lane}: ${paintLane(state, decision.facts[lane], config.pressure.exhausted, paint)}${percent === null ? '' : ` ${shortNumber(percent)}%`}${resetsAt === null ? '' : `, ${state === 'exhausted' ? 'opens' : 'resets'} ${momentText(resetsAt, now)}`}, score ${shortNumber(score)}`,
    );
  }
  lines.push(agesText(picture, paint));
  return lines;
}

/** How old what was decided on is: a plan from stale numbers is a guess, and says so. */
export function agesText({ age, stale }: Picture, paint: Paint): string {
  if (age === null)
    return paint.dim('meters: none was read here yet, so every window is unknown; --refresh asks the vendors');
  if (stale)
    return paint.yellow(
      `meters: written ${durationText(age)} ago, too old to say anything, so every window is unknown; --refresh asks the vendors`,
    );
  return paint.dim(`meters: as of ${durationText(age)} ago`);
}
