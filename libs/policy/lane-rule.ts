import type { DecisionFactors, Deferral, Independence, PolicyConfig } from '#contract';
import { independenceLabel, producerVendor } from './independence.js';
import { isUsable, type Seat, type UsableSeat } from './lane-order.js';

/** Pin > independence > headroom > preference, over lanes that are already in order. */
export type LaneRule =
  | { kind: 'run'; seat: UsableSeat; notes: string[]; independence: Independence | null; fallback: string | null }
  | {
      kind: 'defer';
      notes: string[];
      reasonCode: Deferral['reasonCode'];
      detail?: 'pinned-lane-out';
      waitsFor: Seat[];
    };

export function laneRule(factors: DecisionFactors, seats: Seat[], config: PolicyConfig): LaneRule {
  const producer = producerVendor(factors.independentOf, config);
  if (factors.pin !== null) return pinned(factors.pin, factors, producer, seats);
  if (producer !== null) return independent(factors, producer, seats);

  const [seat, next] = seats.filter(isUsable);
  if (seat === undefined) return { kind: 'defer', notes: [], reasonCode: 'both-out', waitsFor: seats };
  return { kind: 'run', seat, notes: [], independence: null, fallback: next?.lane.id ?? null };
}

function pinned(pin: string, factors: DecisionFactors, producer: string | null, seats: Seat[]): LaneRule {
  const seat = seats.find(({ lane }) => lane.id === pin);
  const sameVendor = producer !== null && seat?.lane.vendor === producer;
  const notes = [`provider-pinned:${pin}`];
  // Refused at submit; it still arises when the artifact's real vendor turns out to be another than the one believed.
  if (sameVendor && factors.strictIndependence)
    return { kind: 'defer', notes, reasonCode: 'strict-independence', waitsFor: [] };
  if (sameVendor) notes.push('degraded-review:pinned');
  if (seat === undefined || !isUsable(seat)) {
    return {
      kind: 'defer',
      notes,
      reasonCode: 'both-out',
      detail: 'pinned-lane-out',
      waitsFor: seat === undefined ? [] : [seat],
    };
  }
  return { kind: 'run', seat, notes, independence: independenceLabel(seat.lane.vendor, producer), fallback: null };
}

function independent({ strictIndependence }: DecisionFactors, producer: string, seats: Seat[]): LaneRule {
  const foreign = seats.filter(({ lane }) => lane.vendor !== producer);
  const forced = (seat: Seat | undefined): string[] =>
    seat === undefined ? [] : [`cross-model-forced:${seat.lane.id}`];
  const [best] = foreign.filter(isUsable);
  if (best !== undefined)
    return { kind: 'run', seat: best, notes: forced(best), independence: 'cross-vendor', fallback: null };
  if (strictIndependence)
    return { kind: 'defer', notes: forced(foreign[0]), reasonCode: 'strict-independence', waitsFor: foreign };

  const notes = [`degraded-review:${foreign.some(({ out }) => out === 'exhausted') ? 'exhausted' : 'missing'}`];
  const [own] = seats.filter(({ lane }) => lane.vendor === producer).filter(isUsable);
  if (own === undefined) return { kind: 'defer', notes, reasonCode: 'both-out-review', waitsFor: seats };
  return { kind: 'run', seat: own, notes, independence: 'same-vendor', fallback: null };
}
