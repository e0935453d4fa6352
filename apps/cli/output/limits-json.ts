import type { LimitsData } from '#contract';
import { viewsOf } from './limits-view.js';
import { windowName } from './window-text.js';

/**
 * `cmo limits --json`: one member per lane under its id, with the names that the older tool gave them, and `accounts`,
 * all that is known. `percentUsed` and `worstPercent` are effective, `reportedPercent` the vendor's.
 */
export function limitsJson(data: LimitsData, now: number): Record<string, unknown> {
  const views = viewsOf(data, now);
  const lanes = views.flatMap(({ meter, band, facts, age, windows }) => {
    const shared = windows.filter(({ scope }) => scope === null);
    const [worst] = shared;
    return meter.lanes.map(({ id, vendor, installed, endpoint, hold }): [string, object] => [
      id,
      {
        provider: id,
        vendor,
        account: meter.account,
        state: band,
        available: facts.available,
        installed,
        meter: age.state,
        ageSeconds: age.ageMs === null ? null : Math.round(age.ageMs / 1000),
        windows: windows.map(
          ({ id: key, usedPercent, effective, resetsAt, scope, reserved, settling, estimated, ...window }) => ({
            key,
            label: windowName({ id: key, scope, kind: window.kind }),
            percentUsed: round(effective),
            reportedPercent: round(usedPercent),
            reserved,
            settling,
            estimated,
            scope,
            resetsAt,
          }),
        ),
        worstPercent: worst ? round(worst.effective) : null,
        reportedPercent: worst ? round(worst.usedPercent) : null,
        worstWindow: worst?.id ?? null,
        nextResetAt: facts.nextResetAt ?? null,
        hardBlocked: facts.hardBlocked === true,
        blockedBy: facts.blockedBy ?? null,
        plan: meter.reading?.plan ?? null,
        source: meter.reading?.source ?? null,
        checkedAt: meter.reading?.writtenAt ?? null,
        inFlightAgents: meter.inFlight,
        committedPoints: worst ? round(worst.reserved + worst.settling + worst.estimated) : 0,
        overage: meter.reading?.overage ?? null,
        endpoint,
        hold,
        ...(meter.dark ? { error: meter.dark.detail, errorReason: meter.dark.reason } : {}),
      },
    ]);
  });
  const byLane = <T>(pick: (lane: string) => T): Record<string, T> =>
    Object.fromEntries(lanes.map(([id]) => [id, pick(id)]));
  const accountOf = (lane: string): LimitsData['accounts'][number] | undefined =>
    data.accounts.find((account) => account.lanes.some(({ id }) => id === lane));
  return {
    ...Object.fromEntries(lanes),
    schema: 'cmo.limits/1',
    ok: true,
    node: data.node,
    writtenAt: data.writtenAt,
    pressure: data.pressure,
    cached: byLane(() => true),
    inFlight: byLane((id) => accountOf(id)?.inFlight ?? 0),
    fleet: false,
    summary: null,
    accounts: data.accounts,
  };
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
