import { STATES, type LaneStatus, type StatusData, type WindowStatus } from '#contract';
import { windowWord } from '#policy/window-word';
import { controlLines } from './control-text.js';
import type { Paint } from './paint.js';
import { percentBar, shortNumber } from './percent-text.js';
import { table } from './table.js';
import { durationText, momentText } from './time-text.js';
import { effectiveText } from './window-text.js';

export function statusText(status: StatusData, paint: Paint, now: number, columns: number | null = null): string[] {
  return [
    `daemon   ${daemonText(status, paint, now)}`,
    `redis    ${redisText(status.redis)}`,
    ...status.redis.warnings.map((warning) => `         ${paint.yellow(warning)}`),
    `work     ${workText(status)}`,
    ...controlLines(status.control, paint, now),
    ...status.lanes.flatMap((lane) => laneLines(lane, paint, now, columns)),
  ];
}

function daemonText({ startedAt, pid, service, node, version }: StatusData, paint: Paint, now: number): string {
  const parts = [`${paint.green('up')} for ${durationText(now - Date.parse(startedAt))}`, `pid ${pid}`];
  if (service) parts.push('run by the service');
  return [...parts, `node ${node}`, `version ${version}`].join(', ');
}

function redisText(redis: StatusData['redis']): string {
  const parts = [`${redis.private ? 'private' : 'yours'}: ${redis.address}`];
  if (redis.version !== null) parts.push(redis.version);
  if (redis.pid !== null) parts.push(`pid ${redis.pid}`);
  return parts.join(', ');
}

function workText({ running, counts }: StatusData): string {
  const states = STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`);
  return `${running} running here; ${states.length === 0 ? 'nothing on record' : `on record: ${states.join(', ')}`}`;
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
  return [
    '        ',
    windowWord(window.id),
    percentBar(window.effective),
    `${shortNumber(window.usedPercent)}%`,
    effectiveText(window),
    window.resetsAt === null ? 'reset not stated' : `resets ${momentText(window.resetsAt, now)}`,
  ];
}
