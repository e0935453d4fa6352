import { windowWord } from '#policy/window-word';
import type { BatchPlan } from '../plan/plan-batch.js';
import type { Picture } from '../plan/picture.js';
import type { Paint } from './paint.js';
import { shortNumber } from './percent-text.js';
import { agesText } from './plan-text.js';
import { table } from './table.js';
import { momentText } from './time-text.js';

/** The sums first: what each lane gets, what each window is asked for, what would wait and until when, and the end. */
export function batchPlanText(
  plan: BatchPlan,
  picture: Picture,
  paint: Paint,
  now: number,
  columns: number | null,
): string[] {
  const degraded = plan.dispatches.filter(({ degradedReview }) => degradedReview).length;
  const waiting = plan.waits.reduce((sum, { dispatches }) => sum + dispatches, 0);
  return [
    `${plan.total} ${plan.total === 1 ? 'dispatch' : 'dispatches'}: ${plan.total - waiting} could start now${waiting > 0 ? `, ${paint.yellow(`${waiting} would wait`)}` : ''}${degraded > 0 ? `, ${paint.yellow(`${degraded} reviews degraded`)}` : ''}`,
    ...table(
      plan.lanes.map(({ lane, dispatches, atOnce, slots, dark }) => [
        `  ${lane}`,
        `${dispatches} ${dispatches === 1 ? 'dispatch' : 'dispatches'}`,
        atOnce === dispatches ? '' : `room for ${atOnce} now`,
        `${slots} at a time${dark ? ': its meter is dark, so none of its windows is counted' : ''}`,
      ]),
      columns,
    ),
    ...table(
      plan.windows.map(({ account, window, effective, adds, atOnce, limit }) => [
        `  ${account} ${windowWord(window)}`,
        `${shortNumber(effective)}%`,
        `+ ${shortNumber(adds)} points`,
        atOnce === adds ? '' : `${shortNumber(atOnce)} of them at once`,
        `of ${shortNumber(limit)}`,
      ]),
    ),
    ...plan.waits.map(
      ({ until, dispatches }) =>
        `  ${dispatches} would wait ${until === null ? 'for a window that states no reset' : `until ${momentText(until, now)}`}`,
    ),
    plan.end.at === null
      ? paint.dim(`the end can't be told: ${plan.end.why}`)
      : `done about ${momentText(plan.end.at, now)} ${paint.dim(`(a first estimate: ${plan.end.why})`)}`,
    agesText(picture, paint),
  ];
}
