import type { DispatchRecord, LeftLane } from '#contract';
import type { AccountSnapshot, WindowEvent } from '#gate';
import { laneById, type Resources } from './resources.js';

/**
 * Lanes that a dispatch left for a window event which is still on: it is not offered them again, or work would slosh
 * between two vendors with every reading.
 */
export async function lanesOut(
  { gate, config }: Pick<Resources, 'gate' | 'config'>,
  { left }: Pick<DispatchRecord, 'left'>,
): Promise<string[]> {
  if (left.length === 0) return [];
  const accounts = [...new Set(left.flatMap(({ lane }) => laneById(config, lane)?.account ?? []))];
  const snapshots = new Map(
    await Promise.all(accounts.map(async (account) => [account, await gate.snapshot(account)] as const)),
  );
  return [
    ...new Set(
      left.flatMap((one) => {
        const snapshot = snapshots.get(laneById(config, one.lane)?.account ?? '');
        return snapshot && isOn(one, snapshot) ? [one.lane] : [];
      }),
    ),
  ];
}

/** Until the window's reset; or, without one, as long as that very closing shuts the account. */
function isOn({ until, closing }: WindowEvent, { now, closed }: Pick<AccountSnapshot, 'now' | 'closed'>): boolean {
  if (until !== undefined) return until > now;
  return closed !== null && closed.number === closing && closed.until > now;
}

/** The record's list with one more; the same lane for the same event stands there once. */
export function leaving(left: readonly LeftLane[], lane: string, event: WindowEvent | null): LeftLane[] {
  if (event === null || left.some((one) => one.lane === lane && one.event === event.event)) return [...left];
  return [...left, { ...event, lane }];
}
