/**
 * What a thrown thing says, for a log or a detail. Apart from errors.ts, whose registry no supervisor should carry: one
 * of them runs beside every agent.
 */
export function thrownMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
