import type { Candidate, Chosen, Config, Deferral } from '#contract';
import { deferral } from '#policy/deferral';
import type { Room } from '#policy/room';
import type { Picture } from '../plan/picture.js';
import type { Plan } from '../plan/plan-one.js';
import { independenceText, untilText } from './envelope-text.js';
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
  const { reason, notes, candidates, facts } = decision;
  const full = config.pressure.exhausted;
  return [
    ...(decision.ok ? chosenLines(decision, room, config, paint, now) : deferredLines(decision, paint, now)),
    `why: ${reason}`,
    ...(notes.length > 0 ? ['notes:', ...notes.map((note) => `  - ${note}`)] : []),
    ...candidates.map((one) => {
      const state = paintLane(one.state, facts[one.lane], full, paint);
      return `  ${one.lane}: ${state}${standingText(one, now)}, score ${shortNumber(one.score)}`;
    }),
    agesText(picture, paint),
  ];
}

function chosenLines(chosen: Chosen, room: Room | null, config: Config, paint: Paint, now: number): string[] {
  const { lane, model, effort, tier, weight, fallback, independence, degradedReview } = chosen;
  const how = effort === null ? '' : ` effort=${effort}`;
  const lines = [`${paint.bold(`${lane} ${model}`)}${how} (tier ${tier}, weight ${weight})`];
  if (independence !== null) {
    const label = independenceText({ independence, degradedReview }) ?? '';
    lines.push(`review: ${degradedReview ? paint.yellow(label) : label}`);
  }
  if (room !== null && !room.free)
    lines.push(`${paint.yellow(`would wait (waiting-${room.for})`)}: ${room.why}${untilText(room.until, now)}`);
  const other = config.lanes.find(({ id }) => id === fallback);
  if (other) lines.push(`else: ${other.id} ${other.models[tier].model}`);
  return lines;
}

function deferredLines(deferred: Deferral, paint: Paint, now: number): string[] {
  const { tier, weight, reasonCode, detail, resumeAfter } = deferred;
  const why = detail ? `${reasonCode}, ${detail}` : reasonCode;
  return [
    `${paint.red('DEFER')} (tier ${tier}, weight ${weight}): ${why}`,
    resumeAfter === null ? 'when a lane opens is not known' : `resume after ${momentText(resumeAfter, now)}`,
    `${paint.dim('fix:')} ${deferral(deferred).fix}`,
  ];
}

/** ` 64%, resets 15:00 (in 2h 00m)`; what is not known is left out. */
function standingText({ state, percent, resetsAt }: Candidate, now: number): string {
  const used = percent === null ? '' : ` ${shortNumber(percent)}%`;
  const verb = state === 'exhausted' ? 'opens' : 'resets';
  return resetsAt === null ? used : `${used}, ${verb} ${momentText(resetsAt, now)}`;
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
