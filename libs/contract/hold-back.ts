import type { Config, HoldBackHours } from './config.js';

/** A moment of the box's own day: minutes since its midnight, and the day of the week (0 = Sunday). */
export type DayTime = { minutes: number; weekday: number };

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/**
 * What is kept for interactive work on an account at that time: the standing hold-back, or what the person keeps for
 * these hours where that is more.
 */
export function heldBackAt(
  { holdBack, holdBackHours }: Pick<Config, 'holdBack' | 'holdBackHours'>,
  account: string,
  at: DayTime,
): { slots: number; points: number } {
  const rules = holdBackHours.filter((rule) => (rule.account === null || rule.account === account) && covers(rule, at));
  return {
    slots: Math.max(holdBack.slots, ...rules.map(({ slots }) => slots)),
    points: Math.max(holdBack.points, ...rules.map(({ points }) => points)),
  };
}

/**
 * From 22:00 until 09:00 goes over midnight, and belongs to the day on which it begins; the same time twice is the
 * whole day.
 */
function covers({ from, until, days }: HoldBackHours, { minutes, weekday }: DayTime): boolean {
  const begins = (day: number): boolean => days.length === 0 || days.includes(WEEKDAYS[(day + 7) % 7] ?? 'sun');
  if (from === until) return begins(weekday);
  if (from < until) return begins(weekday) && minutes >= from && minutes < until;
  return (minutes >= from && begins(weekday)) || (minutes < until && begins(weekday - 1));
}

/** Agents at once on an account, all boxes. */
export function accountSlots({ slots, accounts }: Pick<Config, 'slots' | 'accounts'>, account: string): number {
  return accounts.find(({ id }) => id === account)?.slots ?? slots.account;
}
