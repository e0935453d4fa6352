import { DEFAULT_CONFIG, NOTICES, type Config, type HoldBackHours, type Keep, type NotifyTarget } from '#contract';
import type { ConfigFile, HoursEntry, TargetEntry } from './file-shape.js';
import type { Setting } from './sources.js';

/** Only accounts that the file names: every other one has `slots.account`. */
export function resolveAccounts({ accounts }: ConfigFile, setting: Setting): Config['accounts'] {
  return [...(accounts ?? [])].map(([id, { slots }]) => ({
    id,
    slots: setting<number | null>(`accounts.${id}.slots`, null, slots),
  }));
}

export function resolveRetention({ retention }: ConfigFile, setting: Setting): Config['retention'] {
  const keep = (what: keyof Config['retention']): Keep => {
    const [given, base] = [retention?.[what], DEFAULT_CONFIG.retention[what]];
    return {
      days: setting(`retention.${what}.days`, base.days, given?.days),
      most: setting(`retention.${what}.most`, base.most, given?.most),
    };
  };
  return { records: keep('records'), receipts: keep('receipts'), runs: keep('runs'), blobs: keep('blobs') };
}

export function resolveTiming({ timing: given }: ConfigFile, setting: Setting): Config['timing'] {
  const timing = { ...DEFAULT_CONFIG.timing };
  const take = <K extends keyof Config['timing']>(key: K): void => {
    timing[key] = setting(`timing.${key}`, timing[key], given?.[key] as Config['timing'][K] | undefined);
  };
  for (const key of Object.keys(timing) as (keyof Config['timing'])[]) take(key);
  return timing;
}

/** Hours that name no end last until midnight; days that are not named are all days. */
export function holdBackHoursOf(entry: HoursEntry): HoldBackHours {
  const { from = 0, until = 24 * 60, days = [], account = null, points = 0, slots = 0 } = entry;
  return { from, until, days, account, points, slots };
}

export function notifyTargetOf(entry: TargetEntry): NotifyTarget {
  const { on = [...NOTICES], webhook = null, ntfy = null, command = null } = entry;
  return { on, webhook, ntfy, command };
}
