import type { AccountMeter, Band, LaneFacts, LimitsData, MeterWindowStatus, Overage } from '#contract';
import { laneState } from '#policy/bands';
import { factsOfLimits, LIMITS_STALE_MS, windowsOfMeter } from '#policy/limits-facts';
import { windowWord } from '#policy/window-word';
import { meterAge } from '#probes/freshness';
import { paintLane } from './lane-word.js';
import { bandPaint, paintBand, type Paint } from './paint.js';
import { table } from './table.js';
import { durationText, momentText } from './time-text.js';
import { effectiveText, windowName } from './window-text.js';

/** One account as a reader sees it at `now`: everything that the text, the line and the JSON say comes from here. */
export type AccountView = {
  meter: AccountMeter;
  band: Band;
  /** The facts of the account's first lane: its lanes share the windows. */
  facts: LaneFacts;
  age: ReturnType<typeof meterAge>;
  /** The fullest first: it binds. */
  windows: MeterWindowStatus[];
  /** Its numbers can't be trusted, or its source gives none: told before every other. */
  trouble: boolean;
};

/** Accounts with a dark meter first, the rest in the order of the configuration. */
export function viewsOf(data: LimitsData, now: number): AccountView[] {
  const facts = factsOfLimits(data, now);
  const views = data.accounts.map((meter): AccountView => {
    const first = meter.lanes[0]?.id ?? '';
    const own = (Object.hasOwn(facts, first) ? facts[first] : undefined) ?? { available: false };
    const age = meterAge({
      writtenAt: at(meter.reading?.writtenAt),
      freshnessMs: meter.freshnessMs,
      lastRunEndedAt: at(meter.lastRunEndedAt),
      now,
    });
    const windows = windowsOfMeter(meter, now).sort(
      (a, b) => b.effective - a.effective || Number(a.scope !== null) - Number(b.scope !== null),
    );
    const trouble = age.state === 'dark' || (age.state === 'stale' && meter.dark !== null) || own.blockedBy === 'auth';
    return { meter, band: laneState(own, '', data.pressure).state, facts: own, age, windows, trouble };
  });
  return [...views.filter(({ trouble }) => trouble), ...views.filter(({ trouble }) => !trouble)];
}

/** For people. Numbers are the vendor's, with their source and age; what is not known is called so. */
export function limitsText(data: LimitsData, paint: Paint, now: number, columns: number | null = null): string[] {
  const { tight, critical, exhausted } = data.pressure;
  const age = now - Date.parse(data.writtenAt);
  const old =
    age > OLD_FILE_MS
      ? [
          paint.yellow(
            `what a daemon wrote ${durationText(age)} ago, on ${data.node}${age > LIMITS_STALE_MS ? ': too old to go by, so everything counts as unknown' : ''}; \`cmo limits --refresh\` asks anew`,
          ),
          '',
        ]
      : [];
  const blocks = viewsOf(data, now).map((view) => accountText(view, data, paint, now, columns));
  return [
    ...old,
    ...blocks.flatMap((lines) => [...lines, '']),
    paint.dim(
      `effective = used + promised to what runs; ok below ${tight}%, tight, critical from ${critical}%, exhausted from ${exhausted}%`,
    ),
  ];
}

/** A running daemon writes at least once a minute. */
const OLD_FILE_MS = 150_000;

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

/** The band; `closed` or `paused` where no window is full and something else keeps work out. What it is stands behind. */
function stateWord({ band, facts }: AccountView, { exhausted }: LimitsData['pressure'], paint: Paint): string {
  const { blockedBy: by, ...rest } = facts;
  return paintLane(band, by === 'paused' ? facts : rest, exhausted, paint);
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
    bandPaint(band, paint)(bar(effective)),
    `${number(usedPercent)}%`,
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
    overage.usedPercent === null ? null : `${number(overage.usedPercent)}% used`,
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
        .map(({ window, points, measured: n }) => `${number(points)} of ${windowWord(window)} (mean of ${n})`)
        .join(', ')}`,
  );
}

/** One line for a shell prompt or a status bar: the binding window of each account, the dark meter first. */
export function limitsLine(data: LimitsData, paint: Paint, now: number): string {
  const age = now - Date.parse(data.writtenAt);
  const parts = viewsOf(data, now).map((view) => {
    const { meter, band, facts, age: read, windows, trouble } = view;
    const first = windows.find(({ scope }) => scope === null);
    const full = windows
      .filter(({ scope, effective }) => scope !== null && effective >= data.pressure.critical)
      .map(({ scope, effective }) => `, ${scope ?? ''} ${number(effective)}%`);
    const opens = band === 'exhausted' ? (facts.nextResetAt ?? null) : (first?.resetsAt ?? null);
    const ahead = opens === null ? '' : ` ${durationText(Date.parse(opens) - now)}`;
    if (band === 'unknown' || band === 'missing' || first === undefined)
      return `${meter.account} ${stateWord(view, data.pressure, paint)}${band === 'exhausted' ? ahead : trouble && meter.dark ? ` (${meter.dark.reason})` : ''}`;
    const name = windowName(first);
    return `${meter.account} ${number(first.effective)}% ${name} ${stateWord(view, data.pressure, paint)}${ahead}${full.join('')}${trouble ? ` (${durationText(read.ageMs ?? 0)} old)` : ''}`;
  });
  return `${parts.join(' | ')}${age > OLD_FILE_MS ? ` | as of ${durationText(age)} ago` : ''}`;
}

function bar(percent: number): string {
  const full = Math.max(0, Math.min(10, Math.round(percent / 10)));
  return '█'.repeat(full) + '·'.repeat(10 - full);
}

function number(value: number): string {
  return String(Number(value.toFixed(1)));
}

function at(iso: string | null | undefined): number | null {
  return iso === null || iso === undefined ? null : Date.parse(iso);
}
