/**
 * How many runs this node carries: tenders plus tickets being opened. A place is taken synchronously, before the first
 * await of a fetch: the workers of two lanes in one process would else both see the last one free.
 */
export interface NodeSlots {
  /** Takes a place for a ticket being opened; false when the node is full. */
  take(): boolean;
  /** The opening came to nothing. */
  giveBack(): void;
  /** The opening became a run: from here its tender counts. */
  becomeRun(): void;
}

/**
 * @param limit how many there may be now: a person may change it
 * @param running how many tenders there are now
 * @param freed called when a place got free although somebody was refused for lack of one since the last call:
 *   without that condition two lanes of a shut node would wake each other for ever
 */
export function nodeSlots(
  limit: () => number,
  running: () => number,
  freed: () => void,
): NodeSlots & { runEnded(): void } {
  let opening = 0;
  let refused = false;
  const tell = (): void => {
    if (!refused) return;
    refused = false;
    freed();
  };
  return {
    take() {
      if (running() + opening >= limit()) {
        refused = true;
        return false;
      }
      opening += 1;
      return true;
    },
    giveBack() {
      opening -= 1;
      tell();
    },
    becomeRun() {
      opening -= 1;
    },
    runEnded: tell,
  };
}
