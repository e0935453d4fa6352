import type { MeterWindow, WindowKind } from '#contract';
import { finite } from './json.js';

const MINUTE = 60_000;

/**
 * A clock may be this much ahead of another one before what it wrote is called nonsense. Issue 4: 5 minutes change
 * nothing.
 */
export const SKEW_MS = 5 * MINUTE;

/** The longest a window of a named kind can be open. Monthly windows follow the calendar: up to 31 days. */
const LENGTH_MS: Record<Exclude<WindowKind, 'other'>, number> = {
  five_hour: 300 * MINUTE,
  weekly: 10_080 * MINUTE,
  monthly: 44_640 * MINUTE,
};
/** No vendor sells a longer one; a longer "length" is a number of something else. */
const LONGEST_MINUTES = 366 * 1440;

/** A window as read, before the clock was applied to it. */
export type RawWindow = {
  kind: WindowKind;
  scope: string | null;
  /** How long it can be open at most, ms. */
  lengthMs: number;
  /** 0..100 */
  usedPercent: number;
  /** Milliseconds; null when not stated. */
  resetsAt: number | null;
};

/** A percent, clamped to 0..100; null when there is no number (which is not 0 %). */
export function percent(value: unknown): number | null {
  const number = finite(typeof value === 'string' ? value.trim().replace(/\s*%$/, '') : value);
  return number === null ? null : Math.min(100, Math.max(0, number));
}

/**
 * The kind by the window's length, never by its slot: since 2026 some plans have the weekly window in the first slot. Builds write 299 and 10079 for 300 and 10080. Null when the length is none.
 */
export function kindOfMinutes(minutes: number | null): { kind: WindowKind; lengthMs: number } | null {
  if (minutes === null || minutes <= 0 || minutes > LONGEST_MINUTES) return null;
  if (minutes >= 295 && minutes <= 305) return ofKind('five_hour');
  if (Math.abs(minutes - 10_080) <= 60) return ofKind('weekly');
  if (minutes >= 28 * 1440 - 60 && minutes <= 31 * 1440 + 60) return ofKind('monthly');
  return { kind: 'other', lengthMs: minutes * MINUTE };
}

/**
 * The kind by slot, moved up while the reset lies further away than such a window can; a reset beyond them all proves
 * nothing.
 */
export function kindOfSlot(
  slot: 'primary' | 'secondary',
  msToReset: number | null,
): { kind: WindowKind; lengthMs: number } {
  const kinds = slot === 'primary' ? (['five_hour', 'weekly', 'monthly'] as const) : (['weekly', 'monthly'] as const);
  const fits = kinds.find((kind) => msToReset === null || msToReset <= LENGTH_MS[kind] + SKEW_MS);
  return ofKind(fits ?? kinds[0]);
}

export function ofKind(kind: Exclude<WindowKind, 'other'>): { kind: WindowKind; lengthMs: number } {
  return { kind, lengthMs: LENGTH_MS[kind] };
}

/**
 * Whether the figure belongs to a window that has closed since. Without a stated reset it has for certain once a whole
 * length went by.
 */
export function isClosed(window: RawWindow, writtenAt: number, now: number): boolean {
  return (plausibleReset(window, writtenAt) ?? writtenAt + window.lengthMs) <= now;
}

/**
 * A reset further from the reading than the window is long is a number of something else: unknown beats a wait of
 * years.
 */
function plausibleReset({ resetsAt, lengthMs }: RawWindow, writtenAt: number): number | null {
  return resetsAt !== null && resetsAt <= writtenAt + lengthMs + SKEW_MS ? resetsAt : null;
}

/**
 * The windows as they stand now: closed ones are 0 with no reset, resets are floored to the second and never lie beyond
 * now + length. Two figures for one window: the higher one is the safe one. Two windows of unnamed kind and unlike
 * lengths are two windows.
 */
export function windowsAt(raw: readonly RawWindow[], writtenAt: number, now: number): MeterWindow[] {
  const byId = new Map<string, { window: MeterWindow; lengthMs: number }>();
  for (const one of raw) {
    const closed = isClosed(one, writtenAt, now);
    const reset = closed ? null : plausibleReset(one, writtenAt);
    const plain = one.scope === null ? one.kind : `${one.kind}:${one.scope}`;
    const standing = byId.get(plain);
    const unlike = one.kind === 'other' && standing !== undefined && standing.lengthMs !== one.lengthMs;
    const id = unlike ? `${plain}-${Math.round(one.lengthMs / MINUTE)}` : plain;
    const window: MeterWindow = {
      id,
      kind: one.kind,
      usedPercent: closed ? 0 : one.usedPercent,
      resetsAt: reset === null ? null : toSecond(Math.min(reset, now + one.lengthMs), now),
      scope: one.scope,
    };
    const other = byId.get(id);
    if (!other || isWorse(window, other.window)) byId.set(id, { window, lengthMs: one.lengthMs });
  }
  return [...byId.values()].map(({ window }) => window);
}

/**
 * A reset stated beside a flag, held to the same bounds: still to come, and no further away than its window is long.
 */
export function resetWithin(resetsAt: number | null, lengthMs: number, now: number): number | null {
  if (resetsAt === null || resetsAt <= now || resetsAt > now + lengthMs + SKEW_MS) return null;
  return toSecond(Math.min(resetsAt, now + lengthMs), now);
}

/**
 * Vendors' resets come with jittering fractions; a whole second names the same reset twice. Never rounded into the
 * past.
 */
function toSecond(ms: number, now: number): number {
  const second = Math.floor(ms / 1000) * 1000;
  return second > now ? second : ms;
}

function isWorse(a: MeterWindow, b: MeterWindow): boolean {
  return a.usedPercent === b.usedPercent ? (a.resetsAt ?? 0) > (b.resetsAt ?? 0) : a.usedPercent > b.usedPercent;
}
