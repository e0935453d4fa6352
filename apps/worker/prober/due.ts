/** What decides whether an account's source is asked now. Times by the shared clock, ms. */
export type Need = {
  now: number;
  /** Something waits for this account on this node. */
  waiting: boolean;
  inFlight: number;
  /** Runs have ended whose spending no reading has shown yet. */
  unsettled: boolean;
  /** A refusal, a pause or a full window keeps everything out until its reset. */
  shut: boolean;
  /** When the vendor wrote the last reading; null: there is none. */
  writtenAt: number | null;
  lastEnd: number | null;
  /** When the source itself last answered (a run's own reading doesn't show every window). */
  okAt: number | null;
  freshnessMs: number;
  gatherMs: number;
};

/** Even while runs bring their own readings: the windows of some models stand only in the source's. */
const WHOLE_EVERY_MS = 5 * 60_000;
/** Nothing but a reset can change a full window; vendors have been seen to give one early. */
const SHUT_EVERY_MS = 10 * 60_000;

/** Whether this account needs readings at all: an idle daemon does not call vendors. */
export function isActive({ waiting, inFlight, unsettled }: Pick<Need, 'waiting' | 'inFlight' | 'unsettled'>): boolean {
  return waiting || inFlight > 0 || unsettled;
}

/** Whether the usage endpoint is worth a question (pure). How often it really is asked is the turn's business. */
export function isDue(need: Need): boolean {
  const { now, waiting, inFlight, unsettled, shut, writtenAt, lastEnd, okAt, freshnessMs, gatherMs } = need;
  if (!isActive({ waiting, inFlight, unsettled })) return false;
  if (writtenAt === null) return true;
  const age = now - writtenAt;
  const sinceAnswer = okAt === null ? Number.POSITIVE_INFINITY : now - okAt;
  if (inFlight > 0) return age > freshnessMs || sinceAnswer > WHOLE_EVERY_MS;
  // Ends are gathered: a hundred within a second are shown by one answer.
  if (unsettled) return lastEnd === null || now - lastEnd >= gatherMs;
  return shut ? age > SHUT_EVERY_MS : age > freshnessMs;
}
