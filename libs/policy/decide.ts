import type { Chosen, Decision, DecisionFactors, LanesFacts, PolicyConfig, Task, Tier } from '#contract';
import { laneState, opensAt } from './bands.js';
import { factorsOf } from './factors.js';
import { candidateOf, seatLanes, type Seat, type UsableSeat } from './lane-order.js';
import { laneRule } from './lane-rule.js';
import { offerOf, type Offer } from './models.js';
import { correctTier, tierAbove, tierOf } from './tier.js';
import { weightOf } from './weight.js';

/**
 * Lane, tier, model and effort for a task, from nothing but its arguments. Percents are effective (reported + reserved
 * + settling); `nextResetAt` says when, so no clock is needed. The task's values are taken as checked (`readTask`).
 * Never throws on data: when no permitted lane is usable it is a Deferral.
 */
export function decide(task: Task, facts: LanesFacts, config: PolicyConfig): Decision {
  const factors = factorsOf(task);
  const weight = weightOf(factors);
  const { tier, notes: ofTier } = correctTier(tierOf(weight), factors);
  const corrections = [...ofTier, ...(task.schemaRefusedBy ?? []).map((lane) => `schema-refused:${lane}`)];
  const seats = seatLanes(task, tier, facts, config);
  const rule = laneRule(factors, seats, config);
  const common = {
    weight,
    factors,
    facts,
    states: Object.fromEntries(seats.map(({ lane, state }) => [lane.id, state.state])),
    laneStates: Object.fromEntries(seats.map(({ lane, state }) => [lane.id, state])),
    candidates: seats.map(candidateOf),
  };

  if (rule.kind === 'defer') {
    const { reasonCode, detail, waitsFor } = rule;
    return {
      ...common,
      ok: false,
      defer: true,
      tier,
      reason: reasonOf(
        factors,
        tier,
        seats.flatMap(({ why }) => why),
      ),
      notes: [...corrections, ...rule.notes],
      independence: factors.independentOf === null ? null : 'none',
      reasonCode,
      ...(detail === undefined ? {} : { detail }),
      resumeAfter: earliestOpening(waitsFor, tier, config),
    };
  }

  const degradedReview = rule.independence === 'same-vendor';
  const final = finalOffer(rule.seat, degradedReview, task, config);
  const chosen: Omit<Chosen, keyof typeof common> = {
    ok: true,
    defer: false,
    lane: rule.seat.lane.id,
    vendor: rule.seat.lane.vendor,
    tier: final.offer.tier,
    model: final.offer.model,
    effort: final.offer.effort,
    reason: reasonOf(factors, final.offer.tier, rule.seat.why),
    notes: [...corrections, ...rule.notes, ...final.notes],
    independence: rule.independence,
    degradedReview,
    fallback: rule.fallback,
  };
  return { ...common, ...chosen };
}

/** What follows from the lane: a named or substituted model, then correction 5, then 6. */
function finalOffer(
  { lane, facts, state, offer: start }: UsableSeat,
  degraded: boolean,
  task: Task,
  config: PolicyConfig,
): { offer: Offer; notes: string[] } {
  const notes: string[] = [];
  if (start.pinned) notes.push('model-pinned');
  if (start.insteadOf !== null) notes.push(`model-unavailable:${start.insteadOf}`);
  let offer = start;
  // A tier whose own family is spent would only wait at the gate for a window that this lane's percent did not count.
  const moved = (to: Tier): Offer | null => {
    const next = offerOf(lane, to, task);
    return next !== null && next.tier === to && laneState(facts, next.model, config.pressure).state !== 'exhausted'
      ? next
      : null;
  };
  if (degraded && offer.tier !== 'frontier') {
    const raised = moved(tierAbove(offer.tier));
    notes.push(raised === null ? 'degraded-review-not-raised' : 'degraded-review-raised');
    offer = raised ?? offer;
  }
  if (state.state === 'critical' && offer.tier === 'frontier' && factorsOf(task).role !== 'judge') {
    const lowered = moved('balanced');
    if (lowered !== null) notes.push('critical-downgrade');
    offer = lowered ?? offer;
  }
  return { offer, notes };
}

/**
 * The earliest reset that would let this task run: only of lanes it waits for, and never of one that lacks its CLI or
 * login.
 */
function earliestOpening(seats: Seat[], tier: Tier, { pressure }: PolicyConfig): string | null {
  let earliest: string | null = null;
  for (const { out, facts, offer, lane } of seats) {
    if (out !== 'exhausted') continue;
    const opens = opensAt(facts, offer?.model ?? lane.models[tier].model, pressure);
    if (opens !== null && (earliest === null || Date.parse(opens) < Date.parse(earliest))) earliest = opens;
  }
  return earliest;
}

function reasonOf({ role, complexity, length }: DecisionFactors, tier: Tier, why: string[]): string {
  return `${role} · complexity ${complexity}/5 · length ${length} → ${tier} | ${why.join('; ')}`;
}
