import { DEFAULT_TIMEOUT_MS, type Config, type DispatchRecord } from '#contract';

/** The lease of a running attempt, ms: its wall clock, the time a kill may take, and slack. Renewed by its tender. */
export function boundLease(record: DispatchRecord, config: Config): number {
  return (record.request.timeoutMs ?? DEFAULT_TIMEOUT_MS) + config.timing.killGraceMs + config.timing.boundSlackMs;
}
