import {
  accountSlots,
  heldBackAt,
  type AccountMeter,
  type Config,
  type DayTime,
  type LaneConfig,
  type MeterWindowStatus,
} from '#contract';
import { inScope } from './scope.js';
import { windowWord } from './window-word.js';
import { windowsOfMeter } from './limits-facts.js';

/** Points of each window (by id) that one attempt takes. */
export type Charge = Record<string, number>;

type Tiered = { tier: string; model: string };

/** What an attempt is taken to cost in the windows that bind its model: as measured, else the configuration's word. */
export function chargeOf(account: AccountMeter, lane: LaneConfig, { tier, model }: Tiered): Charge {
  const bind = ({ scope }: MeterWindowStatus): boolean => scope === null || inScope(scope, model);
  const measured = (window: string): number | undefined =>
    account.costs.find((cost) => cost.lane === lane.id && cost.tier === tier && cost.window === window)?.points;
  return Object.fromEntries(
    account.windows.filter(bind).map((window) => [window.id, measured(window.id) ?? lane.cost[window.kind]]),
  );
}

/** `until`: ISO, null when nothing says when. */
export type Room = { free: true } | { free: false; for: 'quota' | 'slot'; why: string; until: string | null };

/** `now` in ms; `day`: the same moment by the box's own clock. */
export type Asked = { interactive: boolean; now: number; day: DayTime };

/**
 * Whether one more attempt would be let in, as the gate counts: every window that binds it has to hold it, and a slot
 * has to be free. Points that are held back for interactive work count as taken for all other work.
 */
export function roomFor(
  account: AccountMeter,
  charge: Charge,
  config: Pick<Config, 'pressure' | 'holdBack' | 'holdBackHours' | 'slots' | 'accounts'>,
  { interactive, now, day }: Asked,
): Room {
  const held = interactive ? { slots: 0, points: 0 } : heldBackAt(config, account.account, day);
  const limit = config.pressure.exhausted - held.points;
  const full = windowsOfMeter(account, now).filter(
    ({ id, effective }) => effective + (charge[id] ?? 0) > limit + EPSILON,
  );
  if (full.length > 0) {
    const resets = full.map(({ resetsAt }) => resetsAt);
    const until = resets.every((reset) => reset !== null)
      ? (resets.sort((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null)
      : null;
    return {
      free: false,
      for: 'quota',
      why: `the ${full.map(({ id }) => windowWord(id)).join(' and ')} window of ${account.account} has no room for it`,
      until,
    };
  }
  const seats = accountSlots(config, account.account) - held.slots;
  if (account.inFlight >= seats)
    return {
      free: false,
      for: 'slot',
      why: `${account.inFlight} of ${seats} slots of ${account.account} are taken`,
      until: null,
    };
  return { free: true };
}

/** Sums of thousandths in floating point. */
const EPSILON = 1e-6;
