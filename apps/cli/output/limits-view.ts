import type { AccountMeter, Band, LaneFacts, LimitsData, MeterWindowStatus } from '#contract';
import { laneState } from '#policy/bands';
import { factsOfLimits, windowsOfMeter } from '#policy/limits-facts';
import { meterAge } from '#probes/freshness';
import { paintLane } from './lane-word.js';
import type { Paint } from './paint.js';

/** A running daemon writes meters.json at least once a minute: past this age, ms, none does. */
export const OLD_FILE_MS = 150_000;

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

/** The band; `closed` or `paused` where no window is full and something else keeps work out. What it is stands behind. */
export function stateWord({ band, facts }: AccountView, { exhausted }: LimitsData['pressure'], paint: Paint): string {
  const { blockedBy: by, ...rest } = facts;
  return paintLane(band, by === 'paused' ? facts : rest, exhausted, paint);
}

function at(iso: string | null | undefined): number | null {
  return iso === null || iso === undefined ? null : Date.parse(iso);
}
