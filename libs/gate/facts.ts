import type { CostVector, LaneFacts } from '#contract';
import { pauseOf } from './control.js';
import { thousandths } from './points.js';
import type { AccountSnapshot } from './snapshot.js';

/**
 * An account's picture as the policy reads it (pure). Percents are effective; a lane is hardBlocked while a refusal
 * keeps its account closed, while it is paused, or when the bare limit refuses this cost with nothing in flight and
 * nothing settling: then only the reset can help.
 * @param cost thousandths per window of the dispatch in question
 * @param limit thousandths
 */
export function laneFacts(
  snapshot: AccountSnapshot,
  lane: string,
  installed: boolean,
  cost: CostVector,
  limit: number,
): LaneFacts {
  const open = snapshot.windows.filter((w) => w.scope === null);
  const worst = open.reduce<(typeof open)[number] | null>(
    (most, w) => (most === null || w.effective > most.effective ? w : most),
    null,
  );
  const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  const facts: LaneFacts = { available: snapshot.windows.length > 0, installed };
  if (facts.available) {
    facts.worstPercent = worst?.effective ?? 0;
    facts.nextResetAt = iso(worst?.resetsAt ?? null);
    facts.scoped = snapshot.windows
      .filter((w) => w.scope !== null)
      .map((w) => ({ scope: w.scope ?? '', percent: w.effective, resetsAt: iso(w.resetsAt) }));
  }
  const full = snapshot.bare ? open.find((w) => thousandths(w.effective) + (cost[w.id] ?? 0) > limit) : undefined;
  if (snapshot.closed && snapshot.closed.until > snapshot.now) {
    return { ...facts, hardBlocked: true, blockedBy: snapshot.closed.reason, nextResetAt: iso(snapshot.closed.until) };
  }
  const pause = pauseOf(snapshot, lane);
  if (pause) return { ...facts, hardBlocked: true, blockedBy: 'paused', nextResetAt: iso(pause.until) };
  // The reading's own word: without `blockedBy` it counts only as long as there is a reading.
  const reached = snapshot.reading?.reached;
  if (reached && reached.resetsAt !== null && reached.resetsAt > snapshot.now)
    return { ...facts, hardBlocked: true, nextResetAt: iso(reached.resetsAt) };
  if (full) return { ...facts, hardBlocked: true, blockedBy: 'limit', nextResetAt: iso(full.resetsAt) };
  return facts;
}
