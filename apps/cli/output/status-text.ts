import { STATES, type LaneStatus, type StatusData, type WindowStatus } from '#contract';
import { windowWord } from '#policy/window-word';
import { controlLines } from './control-text.js';
import type { Paint } from './paint.js';
import { percentBar, shortNumber } from './percent-text.js';
import { table } from './table.js';
import { durationText, momentText } from './time-text.js';
import { effectiveText } from './window-text.js';

export function statusText(status: StatusData, paint: Paint, now: number, columns: number | null = null): string[] {
  const { redis, counts } = status;
  const states = STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`);
  return [
    `daemon   ${paint.green('up')} for ${durationText(now - Date.parse(status.startedAt))}, pid ${status.pid}${status.service ? ', run by the service' : ''}, node ${status.node}, version ${status.version}`,
    `redis    ${redis.private ? 'private' : 'yours'}: ${redis.address}${redis.version === null ? '' : `, ${redis.version}`}${redis.pid === null ? '' : `, pid ${redis.pid}`}`,
    ...redis.warnings.map((warning) => `         ${paint.yellow(warning)}`),
    `work     ${status.running} running here${states.length === 0 ? '; nothing on record' : `; on record: ${states.join(', ')}`}`,
    ...controlLines(status.control, paint, now),
    ...status.lanes.flatMap((lane) => laneLines(lane, paint, now, columns)),
  ];
}

/**
 * The lane, then its windows with the binding one first. Numbers are the vendor's, with their age; none is ever
 * guessed.
 */
function laneLines(lane: LaneStatus, paint: Paint, now: number, columns: number | null): string[] {
  const parts = [lane.installed ? `${lane.inFlight} in flight` : paint.red(`missing: ${lane.command} is not on PATH`)];
  if (lane.account !== lane.id) parts.push(`account ${lane.account}`);
  if (lane.endpoint !== null) parts.push(paint.yellow(`endpoint ${lane.endpoint}`));
  if (lane.paused) parts.push(paint.yellow('paused'));
  if (lane.closed) parts.push(paint.red(`closed (${lane.closed.reason}) until ${momentText(lane.closed.until, now)}`));
  if (lane.reading)
    parts.push(`as of ${durationText(now - Date.parse(lane.reading.writtenAt))} ago, from ${lane.reading.source}`);
  else if (lane.installed) parts.push(paint.dim('meter dark: no reading yet, so few run at once'));
  const windows = [...lane.windows].sort((a, b) => b.effective - a.effective);
  return [
    `lane     ${paint.bold(lane.id)}: ${parts.join(', ')}`,
    ...table(
      windows.map((window) => windowCells(window, now)),
      columns,
    ),
  ];
}

function windowCells(window: WindowStatus, now: number): string[] {
  const cells = [
    '        ',
    windowWord(window.id),
    percentBar(window.effective),
    `${shortNumber(window.usedPercent)}%`,
  ];
  cells.push(effectiveText(window));
  cells.push(window.resetsAt === null ? 'reset not stated' : `resets ${momentText(window.resetsAt, now)}`);
  return cells;
}
