import type { AccountMeter, LaneFacts, LanesFacts, LimitsData, MeterWindowStatus } from '#contract';

/**
 * A picture older than this says nothing any more: what was promised in it has ended, and who knows what was spent
 * since.
 */
export const LIMITS_STALE_MS = 60 * 60_000;

/** The windows as they stand at `now` (ms): one whose reset has passed is empty and has no known reset. */
export function windowsOfMeter({ windows }: Pick<AccountMeter, 'windows'>, now: number): MeterWindowStatus[] {
  return windows.map((window) => {
    const reset = window.resetsAt === null ? Number.NaN : Date.parse(window.resetsAt);
    return reset <= now
      ? { ...window, usedPercent: 0, settling: 0, estimated: 0, effective: window.reserved, resetsAt: null }
      : window;
  });
}

/**
 * The lanes' facts as a picture from the daemon or from meters.json gives them, so that a reader decides as the daemon
 * would.
 */
export function factsOfLimits(data: LimitsData, now: number): LanesFacts {
  const age = now - Date.parse(data.writtenAt);
  const known = age <= LIMITS_STALE_MS;
  return Object.fromEntries(
    data.accounts.flatMap((account) =>
      account.lanes.map(({ id, installed, hold }): [string, LaneFacts] => [
        id,
        {
          ...(known ? accountFacts(account, now) : { available: false }),
          installed,
          ...(known && hold !== null ? { hardBlocked: true, blockedBy: 'auth', nextResetAt: null } : {}),
        },
      ]),
    ),
  );
}

function accountFacts(account: AccountMeter, now: number): LaneFacts {
  const { closed, paused, reading } = account;
  const windows = windowsOfMeter(account, now);
  const shared = windows.filter(({ scope }) => scope === null);
  const worst = shared.reduce<MeterWindowStatus | null>(
    (most, window) => (most === null || window.effective > most.effective ? window : most),
    null,
  );
  const facts: LaneFacts = { available: reading !== null && windows.length > 0 };
  if (facts.available) {
    facts.worstPercent = worst?.effective ?? 0;
    facts.nextResetAt = worst?.resetsAt ?? null;
    const scoped = windows.flatMap(({ scope, effective, resetsAt }) =>
      scope === null ? [] : [{ scope, percent: effective, resetsAt }],
    );
    if (scoped.length > 0) facts.scoped = scoped;
  }
  const ahead = (iso: string | null): boolean => iso !== null && Date.parse(iso) > now;
  if (closed !== null && ahead(closed.until))
    return { ...facts, hardBlocked: true, blockedBy: closed.reason, nextResetAt: closed.until };
  if (paused) return { ...facts, hardBlocked: true, blockedBy: 'paused', nextResetAt: null };
  if (reading?.reached && ahead(reading.reached.resetsAt))
    return { ...facts, hardBlocked: true, nextResetAt: reading.reached.resetsAt };
  return facts;
}
