import type { Deferral, PolicyConfig } from '#contract';
import { producerVendor } from './independence.js';

/**
 * In which lane's line deferred work waits: among those it may run on and that have a CLI, the one whose stated reset
 * comes first; then the order of the candidates. Null: no permitted lane has a CLI, or none is permitted at all, so
 * waiting can't help.
 */
export function waitingLane(deferral: Deferral, config: PolicyConfig): string | null {
  const { factors, candidates } = deferral;
  const producer = producerVendor(factors.independentOf, config);
  const permitted = candidates.filter(({ lane, vendor, state }) => {
    if (state === 'missing' || factors.schemaRefusedBy?.includes(lane)) return false;
    if (factors.strictIndependence && producer !== null && vendor === producer) return false;
    return factors.pin === null || lane === factors.pin;
  });
  const instant = (iso: string | null): number => (iso === null ? Number.POSITIVE_INFINITY : Date.parse(iso));
  const [first] = [...permitted].sort((a, b) => instant(a.resetsAt) - instant(b.resetsAt) || 0);
  return first?.lane ?? null;
}
