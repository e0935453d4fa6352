/** Tasks of one lane that start at one moment (ms). */
export type StartGroup = { lane: string; startsAfter: number; count: number };

/**
 * When the last of them would end, ms since the epoch: each lane runs as many at once as it has slots, each for the
 * median of its runs so far. Null when that is not known for a lane.
 *
 * @param lengthOf ms of one run on the lane; null when none was seen
 */
export function estimateEnd(
  groups: readonly StartGroup[],
  slotsOf: (lane: string) => number,
  lengthOf: (lane: string) => number | null,
): number | null {
  const free = new Map<string, number>();
  let end: number | null = null;
  for (const { lane, startsAfter, count } of [...groups].sort((a, b) => a.startsAfter - b.startsAfter)) {
    const length = lengthOf(lane);
    if (length === null) return null;
    const done =
      Math.max(startsAfter, free.get(lane) ?? startsAfter) + Math.ceil(count / Math.max(1, slotsOf(lane))) * length;
    free.set(lane, done);
    end = Math.max(end ?? done, done);
  }
  return end;
}
