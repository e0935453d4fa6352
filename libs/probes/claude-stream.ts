import { windowOfKey } from './claude-windows.js';
import { parseInstant } from './instants.js';
import { finite, members, words, type Members } from './json.js';
import { dark, type Overage, type Probe, type Reached } from './reading.js';
import { ofKind, resetWithin, windowsAt, type RawWindow } from './windows.js';

/**
 * What a run's `rate_limit_event` says; `info` is its `rate_limit_info`. It comes free with every run on a
 * subscription. Utilization is 0..1 here (0..100 in the endpoint's answer). The line carries no time, so `seenAt` (ms)
 * is when it was read from the stream. Builds before about 2.1.3xx name one window only: then `complete` is false, or
 * there is no figure at all and the answer is dark. Never throws.
 */
export function readRateLimitEvent(info: unknown, query: { account: string; seenAt: number; now: number }): Probe {
  const event = members(info);
  if (!event) return dark('bad_body', 'The rate_limit_event carries no object.');
  const unified = members(event['unifiedWindows']);
  const listed = unified
    ? Object.entries(unified).flatMap(([key, value]) => eventWindow(key, members(value)) ?? [])
    : [];
  const type = words(event['rateLimitType']) ?? '';
  const named = unified !== null && Object.hasOwn(unified, type) ? null : eventWindow(type, event);
  const writtenAt = Math.min(query.seenAt, query.now);
  const reached = reachedIn(event, unified, query.now);
  const windows = windowsAt(named ? [...listed, named] : listed, writtenAt, query.now);
  // A bare rejection without a window is a short-term limit: the run's failure says so, the meter can't.
  if (windows.length === 0 && reached === null)
    return dark('no_windows', 'The rate_limit_event names no window with a figure.');
  const reading = {
    account: query.account,
    windows,
    source: 'claude stream',
    writtenAt,
    readAt: query.now,
    plan: null,
    complete: listed.length > 0,
    reached,
    overage: overageOf(event),
  };
  return { kind: 'reading', reading };
}

/**
 * A rejected window is full whatever its figure says; a figure far above 1 isn't a share of a window, so it is none.
 */
function eventWindow(key: string, value: Members | null): RawWindow | null {
  const named = windowOfKey(key);
  if (!named || !value) return null;
  const share = finite(value['utilization']);
  const usedPercent =
    share !== null && share <= 2 ? Math.min(100, Math.max(0, Number((share * 100).toFixed(3)))) : null;
  const rejected = value['status'] === 'rejected';
  if (usedPercent === null && !rejected) return null;
  return {
    ...named,
    usedPercent: rejected ? 100 : (usedPercent ?? 100),
    resetsAt: parseInstant(value['resetsAt'] ?? value['resets_at']),
  };
}

/** The account is refused: by a window of the whole account, or by a stated time that belongs to no window we know. */
function reachedIn(event: Members, unified: Members | null, now: number): Reached | null {
  if (event['status'] !== 'rejected') return null;
  const type = words(event['rateLimitType']) ?? '';
  const named = windowOfKey(type);
  const own = unified !== null && Object.hasOwn(unified, type) ? members(unified[type]) : null;
  const resetsAt = parseInstant(event['resetsAt'] ?? own?.['resetsAt']);
  if (named ? named.scope !== null : resetsAt === null) return null;
  if (resetsAt !== null && resetsAt <= now) return null;
  return { flag: 'rejected', resetsAt: resetWithin(resetsAt, named?.lengthMs ?? ofKind('monthly').lengthMs, now) };
}

function overageOf(event: Members): Overage | null {
  const status = words(event['overageStatus']);
  const inUse = typeof event['isUsingOverage'] === 'boolean' ? event['isUsingOverage'] : null;
  if (status === null && inUse === null) return null;
  return {
    enabled: (status !== null && status !== 'rejected') || inUse === true,
    inUse,
    unlimited: false,
    balance: null,
    usedPercent: null,
  };
}
