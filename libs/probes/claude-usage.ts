import { darkAnswer, headerOf, type UsageAnswer } from './claude-usage-errors.js';
import { modelWord, windowOfKey } from './claude-windows.js';
import { parseInstant } from './instants.js';
import { members, parseJson, words, type Members } from './json.js';
import { dark, type Overage, type Probe, type Reached } from './reading.js';
import { percent, resetWithin, windowsAt, type RawWindow } from './windows.js';

export type { UsageAnswer } from './claude-usage-errors.js';

/**
 * What one answer of the usage endpoint says. Percents there are 0..100 (0..1 in the stream's event: another reader).
 * `now` in ms is when the answer came. Never throws; an answer without windows is dark, never 0 %.
 */
export function readClaudeUsage(answer: UsageAnswer, query: { account: string; now: number }): Probe {
  const refused = darkAnswer(answer, query.now);
  if (refused) return refused;
  const body = members(typeof answer.body === 'string' ? parseJson(answer.body.replace(/^\uFEFF/, '')) : answer.body);
  if (!body) return dark('bad_body', 'The usage endpoint answered with something else than a JSON object.');
  const rows: unknown[] = Array.isArray(body['limits']) ? body['limits'] : [];
  const limits = rows.map(members).filter((row) => row !== null);
  const raw = [...keyedWindows(body), ...limits.flatMap((row) => listedWindow(row) ?? [])];
  if (raw.length === 0)
    return dark('no_windows', 'The usage endpoint names no window: this login may be on usage billing.');
  const writtenAt = writtenBy(answer, query.now);
  return {
    kind: 'reading',
    reading: {
      account: query.account,
      windows: windowsAt(raw, writtenAt, query.now),
      source: 'claude usage endpoint',
      writtenAt,
      readAt: query.now,
      plan: null,
      complete: true,
      reached: reachedIn(limits, query.now),
      overage: extraUsage(members(body['extra_usage'])),
    },
  };
}

/** `five_hour`, `seven_day`, `seven_day_<model>` beside each other. */
function keyedWindows(body: Members): RawWindow[] {
  return Object.entries(body).flatMap(([key, value]) => {
    const named = windowOfKey(key);
    const window = members(value);
    const usedPercent = percent(window?.['utilization']);
    return named && window && usedPercent !== null
      ? { ...named, usedPercent, resetsAt: parseInstant(window['resets_at']) }
      : [];
  });
}

/**
 * A row of `limits[]`, the only place where some models' caps appear. A scoped row that doesn't name its scope is
 * dropped: we can't tell which models it binds.
 */
function listedWindow(row: Members): RawWindow | null {
  const kind = words(row['kind'])?.toLowerCase() ?? null;
  const group = windowOfKey(words(row['group']) ?? '');
  // An unknown kind is a pool of its own within its group, not the group's shared window.
  const named = (kind === null ? group : windowOfKey(kind)) ?? (group && { ...group, scope: kind });
  const usedPercent = percent(row['percent'] ?? row['utilization']);
  if (!named || usedPercent === null) return null;
  const scope = scopeOf(row, named.scope);
  return scope === undefined ? null : { ...named, scope, usedPercent, resetsAt: parseInstant(row['resets_at']) };
}

/** Undefined: scoped, but to what isn't said. */
function scopeOf(row: Members, suffix: string | null): string | null | undefined {
  const scope = members(row['scope']);
  const model = members(scope?.['model']);
  const named =
    modelWord(model?.['display_name']) ??
    modelWord(model?.['id']) ??
    modelWord(scope?.['model']) ??
    words(scope?.['surface'])?.toLowerCase() ??
    modelWord(row['scope']);
  if (named !== null && named !== undefined) return named;
  return suffix === 'scoped' ? undefined : suffix;
}

/** The vendor's word on an account-wide row. A row whose reset has passed speaks of a closed window. */
function reachedIn(limits: readonly Members[], now: number): Reached | null {
  for (const row of limits) {
    const severity = words(row['severity']) ?? '';
    const window = /exhaust|block|reach|exceed/i.test(severity) ? listedWindow(row) : null;
    if (window?.scope !== null || (window.resetsAt !== null && window.resetsAt <= now)) continue;
    return { flag: severity, resetsAt: resetWithin(window.resetsAt, window.lengthMs, now) };
  }
  return null;
}

function extraUsage(extra: Members | null): Overage | null {
  if (!extra) return null;
  const cents = (name: string): string | null => (typeof extra[name] === 'number' ? String(extra[name]) : null);
  const [used, limit] = [cents('used_credits'), cents('monthly_limit')];
  return {
    enabled: extra['is_enabled'] === true,
    inUse: null,
    unlimited: false,
    balance: used === null && limit === null ? null : `${used ?? '?'} of ${limit ?? '?'} cents`,
    usedPercent: percent(extra['utilization']),
  };
}

/**
 * The vendor's own clock where the answer carries it, but never later than ours: a reading settles only spending before
 * it.
 */
function writtenBy({ headers }: UsageAnswer, now: number): number {
  const date = headerOf(headers, 'date');
  const said = typeof date === 'string' && /GMT$/.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isFinite(said) ? Math.min(said, now) : now;
}
