import type { Independence, PolicyConfig } from '#contract';

/**
 * The vendor behind `independentOf`: a lane's, or the name itself. Independence is between vendors, so two accounts of
 * one vendor are no independent graders of each other. A vendor that no lane has (a lane since removed) leaves every
 * lane foreign.
 */
export function producerVendor(independentOf: string | null | undefined, config: PolicyConfig): string | null {
  if (independentOf === null || independentOf === undefined) return null;
  return config.lanes.find(({ id }) => id === independentOf)?.vendor ?? independentOf;
}

/**
 * The label that work of this vendor must carry when it grades what the producer made; null for work that grades
 * nothing.
 */
export function independenceLabel(vendor: string, producer: string | null): Independence | null {
  if (producer === null) return null;
  return vendor === producer ? 'same-vendor' : 'cross-vendor';
}
