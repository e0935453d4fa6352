import type { AccountMeter, Config, DayTime, LimitsData, MeterLane } from '#contract';
import { LIMITS_STALE_MS } from '#policy/limits-facts';
import { findExecutable } from '#runner/find-executable';
import { readMetersFile } from '../client/meters-file.js';
import type { Context } from '../command.js';

/**
 * What is known without asking a daemon or a vendor: the configured lanes, which of their CLIs are on this PATH, and
 * the meters as the daemon last wrote them. `age` in ms; null: no daemon has written any. `stale`: they are older than
 * an hour and say nothing any more.
 */
export type Picture = { data: LimitsData; age: number | null; stale: boolean };

export async function pictureOf(context: Context, config: Config, refresh: boolean): Promise<Picture> {
  const read = refresh
    ? await (await import('../client/limits.js')).limitsAsked(context)
    : readMetersFile(context.paths);
  return pictured(context, config, read);
}

/** The same from what is at hand; `read` null: nothing was ever read, so every window is unknown. */
export function pictured(context: Context, config: Config, read: LimitsData | null): Picture {
  const now = context.now();
  const age = read === null ? null : Math.max(0, now - Date.parse(read.writtenAt));
  const data: LimitsData = {
    node: config.nodeId,
    writtenAt: read?.writtenAt ?? new Date(now).toISOString(),
    pressure: config.pressure,
    accounts: accountsOf(config, read, context.env['PATH'] ?? ''),
  };
  return { data, age, stale: age === null || age > LIMITS_STALE_MS };
}

/** A moment by this box's own clock. */
export function dayOf(at: number): DayTime {
  const date = new Date(at);
  return { minutes: date.getHours() * 60 + date.getMinutes(), weekday: date.getDay() };
}

/** The configuration of now says which lanes there are; what the file tells of others is of no use. */
function accountsOf(config: Config, read: LimitsData | null, path: string): AccountMeter[] {
  return [...new Set(config.lanes.map(({ account }) => account))].map((account) => {
    const known = read?.accounts.find((one) => one.account === account);
    const told = known?.lanes ?? [];
    const own = config.lanes.filter((lane) => lane.account === account);
    const lanes = own.map(({ id, vendor, kind, command }): MeterLane => ({
      id,
      vendor,
      kind,
      command,
      installed: findExecutable(command, path) !== null,
      endpoint: null,
      hold: told.find((lane) => lane.id === id)?.hold ?? null,
    }));
    return { ...(known ?? { ...UNREAD, account }), lanes };
  });
}

const UNREAD: Omit<AccountMeter, 'account' | 'lanes'> = {
  windows: [],
  inFlight: 0,
  paused: false,
  closed: null,
  reading: null,
  freshnessMs: 0,
  lastRunEndedAt: null,
  dark: null,
  costs: [],
};
