import type { DispatchRecord, Envelope, LaneConfig } from '#contract';
import { waitsForQuota, type Admission, type Gate } from '#gate';
import { windowWord } from '#policy/window-word';
import { ANY_NODE } from '#store';
import type { ApiResources } from './resources.js';

export type Waiting = NonNullable<Envelope['waiting']>;

/**
 * Why each of some dispatches waits, asked of the gate now (a dry run). Equal questions of one answer are asked once: a
 * batch of 250 waits for the same thing.
 */
export function waitingLooks({
  gate,
  config: { lanes },
  now,
}: Pick<ApiResources, 'config' | 'now'> & { gate: Pick<Gate, 'look'> }): (
  record: DispatchRecord,
) => Promise<Waiting | null> {
  const asked = new Map<string, Promise<Admission>>();
  return async (record) => {
    if (record.state !== 'queued') return null;
    if (record.notBefore !== null && record.notBefore > now())
      return { for: 'time', why: 'it is not to start earlier', until: new Date(record.notBefore).toISOString() };
    if (record.behind !== undefined)
      return {
        for: 'slot',
        why: `${record.behind} works in its folder, and one of the two is to be alone there`,
        until: null,
      };
    const lane = lanes.find((candidate) => candidate.id === record.lane);
    if (!lane) return { for: 'slot', why: `no lane ${record.lane ?? ''} is configured here`, until: null };
    const key = JSON.stringify([lane.id, record.class, record.cost, record.home]);
    let look = asked.get(key);
    if (!look) asked.set(key, (look = gate.look(lane, record.cost, record.class, record.home)));
    return waitingOf(await look, lane, record.home);
  };
}

function waitingOf(admission: Admission, lane: LaneConfig, home: string): Waiting {
  if (admission.ok)
    return {
      for: 'slot',
      why: `the window has room for it: it starts when ${home === ANY_NODE ? 'a box' : home} has a free place`,
      until: null,
    };
  return {
    for: waitsForQuota(admission.reason) ? 'quota' : 'slot',
    why: because(admission, lane, home),
    until: admission.til === null ? null : new Date(admission.til).toISOString(),
  };
}

function because({ reason, window }: Extract<Admission, { ok: false }>, lane: LaneConfig, home: string): string {
  switch (reason) {
    case 'limit':
      return `the ${windowWord(window ?? '')} window of ${lane.account} has no room for it`;
    case 'hold-back':
      return `the last slot and point of ${lane.account} are held back for interactive work`;
    case 'slots':
      return `every slot of ${lane.account} is taken`;
    case 'lane-slots':
      return `every slot of lane ${lane.id} is taken`;
    case 'dark':
      return `the meter of ${lane.account} is dark, so few run at once`;
    case 'closed':
      return `${lane.account} refused work (${window ?? 'no reason stated'})`;
    case 'canary':
      return `one run is trying whether ${lane.account} takes work again`;
    case 'paused':
      return `lane ${lane.id} is paused: ${window ?? 'no reason given'}`;
    case 'drained':
      return `${home} is drained and starts nothing: ${window ?? 'no reason given'}`;
    case 'restart':
      return 'Redis has just started: runs that are alive report first';
  }
}
