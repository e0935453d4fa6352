import type { AccountMeter, LimitsData, MeterWindowStatus, Overage } from '#contract';
import { laneState } from '#policy/bands';
import { LIMITS_STALE_MS } from '#policy/limits-facts';
import { windowWord } from '#policy/window-word';
import { OLD_FILE_MS, stateWord, viewsOf, type AccountView } from './limits-view.js';
import { bandPaint, paintBand, type Paint } from './paint.js';
import { percentBar, shortNumber } from './percent-text.js';
import { table } from './table.js';
import { durationText, momentText } from './time-text.js';
import { effectiveText, windowName } from './window-text.js';

/** For people. Numbers are the vendor's, with their source and age; what is not known is called so. */
export function limitsText(data: LimitsData, paint: Paint, now: number, columns: number | null = null): string[] {
  const { tight, critical, exhausted } = data.pressure;
  const blocks = viewsOf(data, now).map((view) => accountText(view, data, paint, now, columns));
  return [
    ...oldFileLines(data, paint, now),
    ...blocks.flatMap((lines) => [...lines, '']),
    paint.dim(
      `effective = used + promised to what runs; ok below ${tight}%, tight, critical from ${critical}%, exhausted from ${exhausted}%`,
    ),
  ];
}

/** When no daemon has written for a while: how old the numbers are, and whether they still count. */
function oldFileLines({ writtenAt, node }: LimitsData, paint: Paint, now: number): string[] {
  const age = now - Date.parse(writtenAt);
  if (age <= OLD_FILE_MS) return [];
  const useless = age > LIMITS_STALE_MS ? ': too old to go by, so everything counts as unknown' : '';
  const text = `what a daemon wrote ${durationText(age)} ago, on ${node}${useless}`;
  return [paint.yellow(`${text}; \`cmo limits --refresh\` asks anew`), ''];
}

function accountText(view: AccountView, data: LimitsData, paint: Paint, now: number, columns: number | null): string[] {
  const { meter, windows } = view;
  const head = `${paint.bold(meter.account)}  ${stateWord(view, data.pressure, paint)}${headWords(view, paint, now)}`;
  return [
    head,
    ...troubleLines(view, now).map((line) => `  ${paint.yellow(line)}`),
    ...table(
      windows.map((window) => windowCells(window, data.pressure, paint, now)),
      columns,
    ),
    ...moneyLines(meter).map((line) => `  ${line}`),
    ...costLines(meter).map((line) => `  ${paint.dim(line)}`),
  ];
}

function headWords({ meter, age, facts: { blockedBy } }: AccountView, paint: Paint, now: number): string {
  const parts: string[] = [];
  const { reading, lanes, inFlight, closed, paused } = meter;
  if (reading && age.ageMs !== null)
    parts.push(
      `as of ${durationText(age.ageMs)} ago${age.state === 'fresh' ? '' : ` (${age.state})`}, from ${reading.source}`,
    );
  if (reading?.plan) parts.push(`plan ${reading.plan}`);
  if (inFlight > 0) parts.push(`${inFlight} in flight`);
  if (lanes.length !== 1 || lanes[0]?.id !== meter.account) parts.push(`lanes ${lanes.map(({ id }) => id).join(', ')}`);
  for (const { id, command, installed, endpoint } of lanes) {
    if (!installed) parts.push(paint.red(`${command} is not on PATH`));
    if (endpoint !== null) parts.push(paint.yellow(`${lanes.length > 1 ? `${id} ` : ''}endpoint ${endpoint}`));
  }
  if (paused && blockedBy !== 'paused') parts.push(paint.yellow('paused'));
  if (closed && Date.parse(closed.until) > now)
    parts.push(
      paint.red(
        `refused work (${closed.reason}), so closed until ${momentText(closed.until, now)} whatever the windows show`,
      ),
    );
  else if (reading?.reached?.resetsAt && Date.parse(reading.reached.resetsAt) > now)
    parts.push(
      paint.red(
        `the vendor says it is used up (${reading.reached.flag}) until ${momentText(reading.reached.resetsAt, now)}`,
      ),
    );
  return parts.length === 0 ? '' : `  ${parts.join(', ')}`;
}

/** One sentence that names why there is no number to trust, and when it is tried again. */
function troubleLines({ meter, age, trouble }: AccountView, now: number): string[] {
  if (!trouble) return [];
  const { dark, lanes } = meter;
  const hold = lanes.find((lane) => lane.hold !== null)?.hold ?? null;
  const why =
    hold ??
    dark?.detail ??
    (age.why === 'runs-ended-since' ? 'runs have ended since it was read' : 'nothing has been read yet');
  const since = dark === null ? '' : ` since ${momentText(dark.since, now)}`;
  const next =
    dark?.nextTryAt == null || Date.parse(dark.nextTryAt) <= now
      ? ''
      : ` It is asked again at ${momentText(dark.nextTryAt, now)}.`;
  let what = `no new numbers${since}`;
  if (hold !== null) what = 'nothing is started';
  else if (age.state === 'dark') what = `the meter is dark${since}, so few run at once`;
  return [`${what}: ${why.replace(/\.$/, '')}.${next}`];
}

function windowCells(window: MeterWindowStatus, pressure: LimitsData['pressure'], paint: Paint, now: number): string[] {
  const { usedPercent, effective, resetsAt } = window;
  const band = laneState({ available: true, worstPercent: effective }, '', pressure).state;
  return [
    ' ',
    windowName(window),
    bandPaint(band, paint)(percentBar(effective)),
    `${shortNumber(usedPercent)}%`,
    effectiveText(window),
    paintBand(band, paint),
    resetsAt === null ? 'reset not known' : `resets ${momentText(resetsAt, now)}`,
  ];
}

function moneyLines({ reading, lanes }: AccountMeter): string[] {
  const overage: Overage | null = reading?.overage ?? null;
  if (overage === null || (!overage.enabled && overage.balance === null && overage.inUse !== true)) return [];
  const parts = [
    overage.unlimited ? 'unlimited' : overage.balance,
    overage.usedPercent === null ? null : `${shortNumber(overage.usedPercent)}% used`,
    overage.inUse === true ? 'being spent now' : null,
    overage.enabled ? null : 'switched off',
  ].filter((part) => part !== null);
  const name = lanes[0]?.kind === 'codex' ? 'credits' : 'extra usage';
  return [`${name}: ${parts.length === 0 ? 'available' : parts.join(', ')}; never counted as room`];
}

/** Only what was measured: a default is no knowledge of this account. */
function costLines({ costs }: AccountMeter): string[] {
  const measured = costs.filter((cost) => cost.measured > 0);
  const lanes = [...new Set(measured.map(({ lane, tier }) => `${lane} ${tier}`))];
  return lanes.map(
    (name) =>
      `an attempt of ${name} costs ${measured
        .filter(({ lane, tier }) => `${lane} ${tier}` === name)
        .map(({ window, points, measured: n }) => `${shortNumber(points)} of ${windowWord(window)} (mean of ${n})`)
        .join(', ')}`,
  );
}
