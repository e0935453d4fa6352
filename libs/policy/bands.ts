import type { LaneFacts, LanesFacts, LaneState, PolicyConfig } from '#contract';
import { inScope } from './scope.js';

type Pressure = PolicyConfig['pressure'];

/** A lane with no entry is unknown. Lane ids come from outside: own members only. */
export function factsOf(facts: LanesFacts, lane: string): LaneFacts {
  return (Object.hasOwn(facts, lane) ? facts[lane] : undefined) ?? { available: false };
}

function scopedFor(facts: LaneFacts, model: string): NonNullable<LaneFacts['scoped']> {
  return (facts.scoped ?? []).filter(({ scope }) => inScope(scope, model));
}

function closed(facts: LaneFacts): boolean {
  return facts.hardBlocked === true && (facts.available || facts.blockedBy !== undefined);
}

/**
 * Effective percent for this model: the worst of the account-wide windows and those scoped to its family; null when
 * there is no reading. A reading with no open window is 0.
 */
export function percentOf(facts: LaneFacts, model: string): number | null {
  if (!facts.available) return null;
  return Math.max(facts.worstPercent ?? 0, ...scopedFor(facts, model).map(({ percent }) => percent));
}

/** missing > unknown > exhausted > critical > tight > ok. */
export function laneState(facts: LaneFacts, model: string, pressure: Pressure): LaneState {
  const percent = percentOf(facts, model);
  const at = (state: LaneState['state'], resetsAt: string | null = facts.nextResetAt ?? null): LaneState => ({
    state,
    percent,
    resetsAt,
  });
  if (facts.installed === false) return at('missing', null);
  if (closed(facts) || (percent !== null && percent >= pressure.exhausted))
    return at('exhausted', opensAt(facts, model, pressure));
  if (percent === null) return at('unknown');
  if (percent >= pressure.critical) return at('critical');
  return at(percent >= pressure.tight ? 'tight' : 'ok');
}

/**
 * When the lane would run this model again (ISO), null when nothing stated says so. Every window that is over the limit
 * has to reset, so the latest of their resets counts; a missing login or CLI is repaired by a person, and a pause ends
 * when its time is over, if it has one.
 */
export function opensAt(facts: LaneFacts, model: string, pressure: Pressure): string | null {
  if (facts.installed === false || facts.blockedBy === 'auth') return null;
  const scoped = scopedFor(facts, model).filter(({ percent }) => percent >= pressure.exhausted);
  const accountWide = closed(facts) || (facts.worstPercent ?? 0) >= pressure.exhausted || scoped.length === 0;
  const resets = [...(accountWide ? [facts.nextResetAt] : []), ...scoped.map(({ resetsAt }) => resetsAt)];
  let latest: string | null = null;
  for (const reset of resets) {
    if (reset === undefined || reset === null || Number.isNaN(Date.parse(reset))) return null;
    if (latest === null || Date.parse(reset) > Date.parse(latest)) latest = reset;
  }
  return latest;
}
