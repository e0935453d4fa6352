/**
 * Begins at the wall clock and from there only runs: for measuring how long something takes. A wall clock that is set
 * forward (by NTP, when a box wakes up) would else end every agent
 * at once, as out of its time. @returns ms since the epoch, about
 */
export function steadyClock(wall: () => number, running: () => number = () => performance.now()): () => number {
  const [at, from] = [wall(), running()];
  return () => at + running() - from;
}
