import { accountSlots, DARK_AFTER_MS, heldBackAt, type Config, type DayTime, type LaneConfig } from '#contract';
import { keys } from '#store';
import { thousandths } from './points.js';

/** What a script needs to settle an account's ended points and to wake who waits for them. */
export function wakeOf(config: Config, account: string): object {
  return { account, channel: keys.channels.wake, ceiling: settleCeiling(config, account) };
}

/**
 * The bounds that reserve.lua admits a lane's work by; percents in thousandths, times in ms. Made for each call: what a
 * person keeps for some hours begins and ends while work waits.
 */
export function laneRules(config: Config, lane: LaneConfig): object {
  const held = heldBackAt(config, lane.account, dayTime(new Date()));
  return {
    ...wakeOf(config, lane.account),
    lane: lane.id,
    limit: thousandths(config.pressure.exhausted),
    slots: accountSlots(config, lane.account),
    laneSlots: lane.slots ?? undefined,
    darkSlots: config.slots.dark,
    darkAfter: DARK_AFTER_MS,
    holdSlots: held.slots,
    holdPoints: thousandths(held.points),
    ttl: config.timing.tokenLeaseMs,
    grace: config.timing.restartGraceMs,
  };
}

/**
 * How long ended points are called settling before they are called estimated, ms. Where an idle probe exists a younger
 * reading is sure to come: three of its periods; else the long ceiling.
 */
export function settleCeiling(config: Config, account: string): number {
  const lane = config.lanes.find((l) => l.account === account);
  return lane?.kind === 'claude'
    ? Math.min(3 * lane.freshnessMs, config.timing.settleCeilingMs)
    : config.timing.settleCeilingMs;
}

/** By this box's own clock and time zone, which are the person's. */
function dayTime(date: Date): DayTime {
  return { minutes: date.getHours() * 60 + date.getMinutes(), weekday: date.getDay() };
}
