import { parseInstant } from './instants.js';
import { finite, members, parseJson, words, type Members } from './json.js';
import type { Overage } from './reading.js';
import { kindOfMinutes, kindOfSlot, percent, type RawWindow } from './windows.js';

/** What one `token_count` line says, before any clock is applied: the same line gives the same entry for ever. */
export type RateLimitEntry = {
  /** When codex wrote the line, ms; null when it doesn't say. */
  timestamp: number | null;
  /** False: a model's own pool (`codex_bengalfox`, …), which says nothing about the account. */
  accountPool: boolean;
  limitId: string | null;
  slots: Slot[];
  /** The vendor's word that the account is closed, null when it gave none. */
  reached: string | null;
  /** The reset of a spending limit of this person, ms. */
  spendResetsAt: number | null;
  overage: Overage | null;
  plan: string | null;
};

type Slot = {
  slot: 'primary' | 'secondary';
  usedPercent: number;
  minutes: number | null;
  /** Milliseconds, absolute. */
  resetsAt: number | null;
  /** Milliseconds from the line's own time; builds up to about 0.5x. */
  resetsInMs: number | null;
};

/** These and no id are the account; every other id is a model's own limit. */
const ACCOUNT_POOLS: readonly (string | null)[] = ['codex', 'premium', null];
const SLOTS = ['primary', 'secondary'] as const;

/**
 * Reads one line of a session file; null when it isn't a rate-limit line. Only the parsed event's type counts: tool
 * output may quote whole session files, and an agent that reads one must not move the meter.
 */
export function readRateLimitLine(line: string): RateLimitEntry | null {
  const row = members(parseJson(line.replace(/^\uFEFF/, '')));
  if (!row || (row['payload'] !== undefined && row['type'] !== undefined && row['type'] !== 'event_msg')) return null;
  const event = members(row['payload']) ?? members(row['msg']) ?? row;
  if (event['type'] !== 'token_count') return null;
  const limits = members(event['rate_limits']);
  if (!limits) return null;
  const limitId = words(limits['limit_id'])?.toLowerCase() ?? null;
  return {
    timestamp: parseInstant(row['timestamp']),
    accountPool: ACCOUNT_POOLS.includes(limitId),
    limitId,
    slots: SLOTS.flatMap((slot) => readSlot(slot, members(limits[slot]) ?? flatSlot(slot, limits)) ?? []),
    reached: readReached(limits),
    spendResetsAt: parseInstant(members(limits['individual_limit'])?.['resets_at']),
    overage: readCredits(members(limits['credits'])),
    plan: words(limits['plan_type']),
  };
}

/** The shape of about 0.3x to 0.40: `primary_used_percent` and so on, beside each other. */
function flatSlot(slot: string, limits: Members): Members {
  const of = (name: string): unknown => limits[`${slot}_${name}`];
  return {
    used_percent: of('used_percent'),
    window_minutes: of('window_minutes'),
    resets_at: of('resets_at'),
    resets_in_seconds: of('resets_in_seconds'),
  };
}

function readSlot(slot: Slot['slot'], value: Members): Slot | null {
  const usedPercent = percent(value['used_percent']);
  if (usedPercent === null) return null;
  const seconds = finite(value['resets_in_seconds'] ?? value['reset_after_seconds']);
  const length = finite(value['limit_window_seconds']);
  return {
    slot,
    usedPercent,
    minutes: finite(value['window_minutes']) ?? (length === null ? null : length / 60),
    resetsAt: parseInstant(value['resets_at'] ?? value['reset_at']),
    resetsInMs: seconds === null ? null : seconds * 1000,
  };
}

function readReached(limits: Members): string | null {
  const type = limits['rate_limit_reached_type'];
  if (type === true) return 'rate_limit_reached';
  return words(type) ?? (limits['spend_control_reached'] === true ? 'spend_control_reached' : null);
}

function readCredits(credits: Members | null): Overage | null {
  if (!credits) return null;
  const balance = credits['balance'];
  return {
    enabled: credits['has_credits'] === true || credits['unlimited'] === true,
    inUse: null,
    unlimited: credits['unlimited'] === true,
    balance: words(balance) ?? (typeof balance === 'number' ? String(balance) : null),
    usedPercent: null,
  };
}

/** The windows of an entry; `writtenAt` (ms) is what seconds-until-reset count from. */
export function rawWindows(entry: RateLimitEntry, writtenAt: number): RawWindow[] {
  return entry.slots.map(({ slot, usedPercent, minutes, resetsAt, resetsInMs }) => {
    const reset = resetsAt ?? (resetsInMs === null ? null : Math.round(writtenAt + resetsInMs));
    const named = kindOfMinutes(minutes) ?? kindOfSlot(slot, reset === null ? null : reset - writtenAt);
    return { ...named, scope: null, usedPercent, resetsAt: reset };
  });
}
