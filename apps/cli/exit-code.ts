import { ERRORS, isEnded, type Envelope } from '#contract';

/** 128 + the signal's number, as shells say it. */
export const EXIT_INTERRUPTED = 130;
const EXIT_WAIT_TIMEOUT = ERRORS.CMO_E_WAIT_TIMEOUT.exit;
export const EXIT_BATCH = ERRORS.CMO_E_BATCH.exit;

/**
 * The exit code that says how one dispatch went. The error's own code is closer to the cause than the state: a failure
 * for want of a login is 4, not 1. One that has not ended is not a success: 7, the dispatch goes on.
 */
export function exitOfEnvelope({ state, ok, error }: Pick<Envelope, 'state' | 'ok' | 'error'>): number {
  if (!isEnded(state)) return EXIT_WAIT_TIMEOUT;
  if (ok) return 0;
  if (error) return ERRORS[error.code].exit;
  switch (state) {
    case 'succeeded':
    case 'failed':
    case 'timed_out':
    case 'cancelled':
      return 1;
    case 'deferred':
    case 'expired':
      return 3;
  }
}

/** Several: 0 when all succeeded, else 6; one alone keeps its own. */
export function exitOfEnvelopes(envelopes: readonly Envelope[]): number {
  const [only] = envelopes;
  if (envelopes.length === 1 && only) return exitOfEnvelope(only);
  if (envelopes.some(({ state }) => !isEnded(state))) return EXIT_WAIT_TIMEOUT;
  return envelopes.every(({ ok }) => ok) ? 0 : EXIT_BATCH;
}
