import { windowWord } from '#policy/window-word';
import type { BatchPlan } from '../plan/plan-batch.js';
import type { Picture } from '../plan/picture.js';
import { dispatchCount } from './count-text.js';
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
  return [
    sumsText(plan, paint),
    ...table(
      plan.lanes.map(({ lane, dispatches, atOnce, slots, dark }) => [
        `  ${lane}`,
        dispatchCount(dispatches),
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
    ...plan.waits.map((wait) => `  ${waitText(wait, now)}`),
    endText(plan.end, paint, now),
    agesText(picture, paint),
  ];
}

function sumsText({ total, waits, dispatches }: BatchPlan, paint: Paint): string {
  const waiting = waits.reduce((sum, wait) => sum + wait.dispatches, 0);
  const degraded = dispatches.filter(({ degradedReview }) => degradedReview).length;
  const parts = [`${total - waiting} could start now`];
  if (waiting > 0) parts.push(paint.yellow(`${waiting} would wait`));
  if (degraded > 0) parts.push(paint.yellow(`${degraded} reviews degraded`));
  return `${dispatchCount(total)}: ${parts.join(', ')}`;
}

function waitText({ until, dispatches }: BatchPlan['waits'][number], now: number): string {
  const how = until === null ? 'for a window that states no reset' : `until ${momentText(until, now)}`;
  return `${dispatches} would wait ${how}`;
}

function endText({ at, why }: BatchPlan['end'], paint: Paint, now: number): string {
  if (at === null) return paint.dim(`the end can't be told: ${why}`);
  return `done about ${momentText(at, now)} ${paint.dim(`(a first estimate: ${why})`)}`;
}
