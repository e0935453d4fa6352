/**
 * Starts at the wall clock and never jumps: for measuring how long something takes. A wall clock that is set forward (by
 * NTP, when a box wakes up) would otherwise time out every agent at once.
 * @returns approximately ms since the epoch
 */
export function steadyClock(wall: () => number, running: () => number = () => performance.now()): () => number {
  const [at, from] = [wall(), running()];
  return () => at + running() - from;
}
