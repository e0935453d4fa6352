import { policyConfig, type Config, type Decision } from '#contract';
import { decide } from '#policy/decide';
import { factsOfLimits } from '#policy/limits-facts';
import { taskOf } from '#policy/read-request';
import { chargeOf, roomFor, type Room } from '#policy/room';
import type { Outline } from '../request/build.js';
import { dayOf, type Picture } from './picture.js';

/** `room`: of a task that has a lane, whether it would start at once. */
export type Plan = { decision: Decision; room: Room | null };

export function planOne(
  outline: Outline & { schema?: unknown; schemaRefusedBy?: string[] },
  { data, stale }: Picture,
  config: Config,
  now: number,
): Plan {
  const decision = decide(taskOf(outline), factsOfLimits(data, now), policyConfig(config));
  if (!decision.ok) return { decision, room: null };
  const lane = config.lanes.find(({ id }) => id === decision.lane);
  const account = data.accounts.find((one) => one.account === lane?.account);
  if (!lane || !account || stale) return { decision, room: { free: true } };
  return {
    decision,
    room: roomFor(account, chargeOf(account, lane, decision), config, {
      interactive: outline.class === 'interactive',
      now,
      day: dayOf(now),
    }),
  };
}
